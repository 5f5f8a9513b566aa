// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions that kernels call and the device has: vprintf, malloc, free, __assertfail.
#include <fmt/format.h>

#include <bit>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>

#include "emulation/emulator/exec/block.h"
#include "emulation/emulator/exec/call_values.h"
#include "emulation/emulator/exec/handlers.h"
#include "emulation/emulator/exec/worker.h"

namespace trimtab::emulator::run {
namespace {

constexpr std::size_t max_string_bytes = std::size_t{1} << 20;

std::optional<std::string> read_string(Warp& w, unsigned lane, std::uint64_t address) {
    std::optional<std::string> text(std::in_place);
    while (text->size() < max_string_bytes) {
        const std::byte* host = w.worker->host_address(w, lane, address + text->size(), 1);
        if (host == nullptr) return std::nullopt;
        if (*host == std::byte{0}) break;
        *text += static_cast<char>(*host);
    }
    return text;
}

// Reads the arguments of printf one by one: each aligned to its size, as the ABI packs them.
class Arguments {
  public:
    Arguments(Warp& w, unsigned lane, std::uint64_t address) : w_(w), lane_(lane), address_(address) {}
    void align(std::size_t bytes) { offset_ = (offset_ + bytes - 1) / bytes * bytes; }
    void skip(std::size_t bytes) { offset_ += bytes; }
    template <class T>
    T next() {
        align(sizeof(T));
        const std::byte* host = w_.worker->host_address(w_, lane_, address_ + offset_, sizeof(T));
        offset_ += sizeof(T);
        T value{};
        if (host == nullptr)
            ok_ = false;
        else
            std::memcpy(&value, host, sizeof value);
        return value;
    }
    [[nodiscard]] bool ok() const { return ok_; }

  private:
    Warp& w_;
    unsigned lane_;
    std::uint64_t address_, offset_ = 0;
    bool ok_ = true;
};

template <class... T>
void append(std::string& out, const std::string& specification, T... values) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
    const int size = std::snprintf(nullptr, 0, specification.c_str(), values...);
    if (size <= 0) return;
    std::string text(static_cast<std::size_t>(size) + 1, '\0');
    std::snprintf(text.data(), text.size(), specification.c_str(), values...);
#pragma GCC diagnostic pop
    text.pop_back();
    out += text;
}

// One conversion, `specification` being all of it but the conversion's letter and length.
bool convert(std::string& out, const std::string& specification, const std::string& length, char letter,
             Warp& w, unsigned lane, Arguments& arguments) {
    const bool wide =
        length == "l" || length == "ll" || length == "z" || length == "j" || length == "t" || length == "L";
    switch (letter) {
        case 'd':
        case 'i':
            if (wide) {
                append(out, specification + "lld", static_cast<long long>(arguments.next<std::int64_t>()));
            } else {
                append(out, specification + length + "d", arguments.next<std::int32_t>());
            }
            return true;
        case 'u':
        case 'o':
        case 'x':
        case 'X':
            if (wide) {
                append(out, specification + "ll" + letter,
                       static_cast<unsigned long long>(arguments.next<std::uint64_t>()));
            } else {
                append(out, specification + length + letter, arguments.next<std::uint32_t>());
            }
            return true;
        case 'c':
            append(out, specification + "c", arguments.next<std::int32_t>());
            return true;
        case 'f':
        case 'F':
        case 'e':
        case 'E':
        case 'g':
        case 'G':
        case 'a':
        case 'A':
            append(out, specification + letter, arguments.next<double>());
            return true;
        case 'p':
            append(out, specification + "p", reinterpret_cast<void*>(arguments.next<std::uint64_t>()));
            return true;
        case 's': {
            const std::uint64_t address = arguments.next<std::uint64_t>();
            const auto text =
                address == 0 ? std::optional<std::string>("(null)") : read_string(w, lane, address);
            if (!text) return false;
            append(out, specification + "s", text->c_str());
            return true;
        }
        default:
            return true;  // as CUDA does: unknown conversions print nothing
    }
}

// OpenCL C's "%v4hlf": `count` elements of as many bytes as `length` says, in place and without promotion, with commas between.
void convert_vector(std::string& out, const std::string& specification, std::size_t count,
                    const std::string& length, char letter, Arguments& arguments) {
    const std::size_t bytes = length == "hh" ? 1 : length == "h" ? 2 : length == "l" ? 8 : 4;
    const std::size_t places = count == 3 ? 4 : count;
    const bool is_signed = letter == 'd' || letter == 'i',
               is_integer = is_signed || std::strchr("ouxX", letter);
    if (!is_integer && std::strchr("fFeEgGaA", letter) == nullptr) return;
    arguments.align(bytes * places);
    for (std::size_t i = 0; i < count; ++i) {
        if (i != 0) out += ',';
        if (!is_integer) {
            append(out, specification + letter,
                   bytes == 8 ? arguments.next<double>() : double{arguments.next<float>()});
            continue;
        }
        std::uint64_t bits = 0;
        switch (bytes) {
            case 1:
                bits = arguments.next<std::uint8_t>();
                break;
            case 2:
                bits = arguments.next<std::uint16_t>();
                break;
            case 4:
                bits = arguments.next<std::uint32_t>();
                break;
            default:
                bits = arguments.next<std::uint64_t>();
                break;
        }
        const auto spare = static_cast<int>(64 - 8 * bytes);
        if (is_signed)
            append(out, specification + "lld",
                   static_cast<long long>(static_cast<std::int64_t>(bits << spare) >> spare));
        else
            append(out, specification + "ll" + letter, static_cast<unsigned long long>(bits));
    }
    arguments.skip(bytes * (places - count));
}

bool format(std::string& out, const std::string& text, Warp& w, unsigned lane, Arguments& arguments,
            int& count) {
    for (std::size_t i = 0; i < text.size(); i++) {
        if (text[i] != '%') {
            out += text[i];
            continue;
        }
        std::string specification = "%", length;
        i++;
        while (i < text.size() && std::strchr("-+ #0", text[i]) != nullptr) specification += text[i++];
        while (i < text.size() && (std::strchr("0123456789.*", text[i]) != nullptr)) {
            if (text[i] == '*') {
                specification += std::to_string(arguments.next<std::int32_t>());
                count++;
            } else {
                specification += text[i];
            }
            i++;
        }
        std::size_t elements = 0;
        if (i < text.size() && text[i] == 'v')
            for (++i; i < text.size() && text[i] >= '0' && text[i] <= '9' && elements < 100; ++i)
                elements = elements * 10 + static_cast<std::size_t>(text[i] - '0');
        while (i < text.size() && std::strchr("hlLzjt", text[i]) != nullptr) length += text[i++];
        if (i >= text.size()) break;
        if (text[i] == '%') {
            out += '%';
            continue;
        }
        count++;
        if (elements == 2 || elements == 3 || elements == 4 || elements == 8 || elements == 16) {
            convert_vector(out, specification, elements, length, text[i], arguments);
            if (!arguments.ok()) return false;
            continue;
        }
        if (!convert(out, specification, length, text[i], w, lane, arguments) || !arguments.ok())
            return false;
    }
    return true;
}

const Op* print(Warp& w, const Op* op, const CallInfo& info) {
    std::string out;
    for (std::uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        const auto text = read_string(w, lane, argument(w, info, 0, lane));
        Arguments arguments(w, lane, argument(w, info, 1, lane));
        int count = 0;
        if (!text || !format(out, *text, w, lane, arguments, count)) {
            return w.worker->fault(w, op, Fault::Kind::illegal_address, lane,
                                   "an illegal address among printf's arguments");
        }
        give_result(w, info, lane, static_cast<std::uint64_t>(count));
    }
    w.worker->print(out);
    return op + 1;
}

const Op* fail_assertion(Warp& w, const Op* op, const CallInfo& info) {
    const auto lane = static_cast<unsigned>(std::countr_zero(w.mask));
    const auto text = [&](std::size_t index) {
        return read_string(w, lane, argument(w, info, index, lane)).value_or("?");
    };
    const auto line = static_cast<std::uint32_t>(argument(w, info, 2, lane));
    return w.worker->fault(w, op, Fault::Kind::assertion, lane,
                           fmt::format("{}:{}: {}: assertion `{}` failed", text(1), line, text(3), text(0)));
}

}  // namespace

const Op* call_host(Warp& w, const Op* op) {
    const CallInfo& info = *static_cast<const CallInfo*>(op->info);
    if (info.host == HostFunction::vprintf) return print(w, op, info);
    if (info.host == HostFunction::assertfail) return fail_assertion(w, op, info);
    if (info.host >= HostFunction::get_parameter_buffer) return call_device_runtime(w, op, info);
    DeviceHeap& heap = w.worker->launch().program.heap();
    for (std::uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        if (info.host == HostFunction::malloc)
            give_result(w, info, lane, heap.allocate(argument(w, info, 0, lane)));
        else
            heap.release(argument(w, info, 0, lane));
    }
    return op + 1;
}

}  // namespace trimtab::emulator::run
