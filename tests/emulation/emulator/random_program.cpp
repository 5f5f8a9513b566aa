// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/emulation/emulator/random_program.h"

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <random>

namespace trimtab::emulator::test {
namespace {

enum Kind : std::uint8_t { u8, s8, u16, s16, u32, s32, u64, s64, f16, f32, f64, kinds };
constexpr std::array<const char*, kinds> type_names = {"u8",  "s8",  "u16", "s16", "u32", "s32",
                                                       "u64", "s64", "f16", "f32", "f64"};
constexpr std::array<std::array<const char*, 3>, kinds> variables = {{{"s.ca", "s.ca", "s.ca"},
                                                                      {"s.cb", "s.cb", "s.cb"},
                                                                      {"s.ha", "s.ha", "s.ha"},
                                                                      {"s.hb", "s.hb", "s.hb"},
                                                                      {"s.ua", "s.ub", "s.uc"},
                                                                      {"s.sa", "s.sb", "s.sb"},
                                                                      {"s.la", "s.lb", "s.lb"},
                                                                      {"s.ma", "s.ma", "s.ma"},
                                                                      {"s.xa", "s.xa", "s.xa"},
                                                                      {"s.fa", "s.fb", "s.fb"},
                                                                      {"s.da", "s.db", "s.db"}}};

bool is_real(Kind kind) {
    return kind >= f16;
}

class Writer {
  public:
    Writer(std::uint64_t seed, std::string name) : random_(seed), name_(std::move(name)) {}

    RandomProgram write() {
        RandomProgram out;
        const bool exchanges = chance(60);
        out.blocks = 1 + below(3);
        out.threads = exchanges ? 32 * (1 + below(4)) : 1 + below(130);
        functions();
        const unsigned phases = 1 + below(5);
        std::string device, host;
        for (unsigned i = 0; i < phases; i++) {
            phase(i);
            device += fmt::format("  {}_phase{}(s, thread, local, n, mine, in, out);\n", name_, i);
            host += fmt::format(
                "  for (u32 t = 0; t < n; t++) {}_phase{}(all[t], block * n + t, t, n, mine.data(), in, "
                "out);\n",
                name_, i);
            if (i + 1 == phases) break;
            meet(exchanges, device, host);
        }
        out.common = text_;
        out.device = fmt::format(R"(
extern "C" __attribute__((global)) void {0}(const u32* in, u32* out) {{
  static __attribute__((shared)) u32 mine[{2}];
  const u32 n = __nvvm_read_ptx_sreg_ntid_x(), local = __nvvm_read_ptx_sreg_tid_x();
  const u32 thread = __nvvm_read_ptx_sreg_ctaid_x() * n + local;
  for (u32 i = local; i < {2}; i += n) mine[i] = i;
  __syncthreads();
  State s; begin(s, thread, in);
{1}  out[thread * {3}] ^= digest(s);
}}
)",
                                 name_, device, shared_words(out.threads), random_words_a_thread);
        out.host = fmt::format(R"(
extern "C" void host_{0}(const u32* in, u32* out, u32 blocks, u32 n) {{
 for (u32 block = 0; block < blocks; block++) {{
  std::vector<u32> mine({2});
  for (u32 i = 0; i < {2}; i++) mine[i] = i;
  std::vector<State> all(n);
  for (u32 t = 0; t < n; t++) begin(all[t], block * n + t, in);
{1}  for (u32 t = 0; t < n; t++) out[(block * n + t) * {3}] ^= digest(all[t]);
 }}
}}
)",
                               name_, host, shared_words(out.threads), random_words_a_thread);
        return out;
    }

  private:
    static unsigned shared_words(unsigned threads) {
        return random_shared_sums + threads * random_words_a_thread;
    }
    unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
    bool chance(unsigned percent) { return below(100) < percent; }
    template <class List>
    std::string one_of(const List& list) {
        return list[below(static_cast<unsigned>(std::size(list)))];
    }
    Kind any_kind() { return static_cast<Kind>(below(kinds)); }
    Kind integer_kind() { return static_cast<Kind>(below(f16)); }
    std::string variable(Kind kind) { return variables[kind][below(3)]; }

    std::string constant(Kind kind) {
        constexpr const char* integers[] = {"0",
                                            "1",
                                            "2",
                                            "3",
                                            "7",
                                            "31",
                                            "32",
                                            "63",
                                            "100",
                                            "127",
                                            "128",
                                            "255",
                                            "0x7fff",
                                            "0x8000",
                                            "0xffff",
                                            "0x10001",
                                            "0x7fffffff",
                                            "0x80000000u",
                                            "0xffffffffu",
                                            "0x123456789abcdefull",
                                            "0x8000000000000000ull",
                                            "-1",
                                            "-5"};
        constexpr const char* reals[] = {"0.0f",  "1.0f",  "-1.0f",    "0.5f",  "3.14159f", "-2.75f",
                                         "1e-3f", "1e10f", "65504.0f", "-0.0f", "1e-40f",   "16777217.0f"};
        return fmt::format("{}({})", type_names[kind], is_real(kind) ? one_of(reals) : one_of(integers));
    }

    std::string call(const char* function, std::initializer_list<std::string> arguments) {
        std::string out = std::string(function) + "(";
        for (const std::string& argument : arguments) out += (out.back() == '(' ? "" : ", ") + argument;
        return out + ")";
    }

    std::string condition(unsigned depth) {
        if (chance(20) && depth > 0)
            return fmt::format("({} {} {})", condition(depth - 1), chance(50) ? "&&" : "||",
                               condition(depth - 1));
        constexpr const char* comparisons[] = {"<", "<=", ">", ">=", "==", "!="};
        const Kind kind = any_kind();
        return fmt::format("({} {} {})", value(kind, depth), one_of(comparisons), value(kind, depth));
    }

    // An expression of exactly the type.
    std::string value(Kind kind, unsigned depth) {
        if (depth == 0 || chance(15)) return chance(75) ? variable(kind) : constant(kind);
        if (chance(8))
            return fmt::format("({} ? {} : {})", condition(depth - 1), value(kind, depth - 1),
                               value(kind, depth - 1));
        if (chance(20)) return converted(kind, depth - 1);
        return is_real(kind) ? real_value(kind, depth - 1) : integer_value(kind, depth - 1);
    }

    std::string converted(Kind kind, unsigned depth) {
        const Kind from = any_kind();
        if (is_real(kind)) {
            if (chance(15) && kind != f16) {
                const bool narrow = kind == f32;
                return fmt::format("real({})", value(narrow ? u32 : u64, depth));
            }
            if (chance(15) && kind == f16) return fmt::format("half({})", value(u16, depth));
            if (kind == f16) return fmt::format("halved(f32({}))", value(from == f64 ? f32 : from, depth));
            return fmt::format("{}({})", type_names[kind], value(from, depth));
        }
        if (!is_real(from)) return fmt::format("{}({})", type_names[kind], value(from, depth));
        if (chance(25)) return fmt::format("{}(bits({}))", type_names[kind], value(from, depth));
        return fmt::format("whole<{}>({})", type_names[kind],
                           from == f16 ? "f32(" + value(f16, depth) + ")" : value(from, depth));
    }

    std::string integer_value(Kind kind, unsigned depth) {
        const char* type = type_names[kind];
        const auto two = [&] { return std::pair{value(kind, depth), value(kind, depth)}; };
        if (chance(35) && (kind == u32 || kind == u64)) {
            switch (below(6)) {
                case 0:
                    return call("high", {value(kind, depth), value(kind, depth)});
                case 1:
                    return call("turn", {value(kind, depth), value(u32, depth)});
                case 2:
                    return fmt::format("{}({}({}))", type, chance(50) ? "ones" : "zeros",
                                       value(chance(50) ? u32 : u64, depth));
                case 3:
                    return call("turned", {value(kind, depth)});
                case 4:
                    return call("swapped", {value(kind, depth)});
                default:
                    return fmt::format("{}(lowest({}))", type, value(u32, depth));
            }
        }
        if (kind == s32 && chance(10)) return call("high", {value(s32, depth), value(s32, depth)});
        if (kind == u32 && chance(25)) return word(depth);
        switch (below(9)) {
            case 0:
                return fmt::format("divide<{}>({}, {})", type, value(kind, depth), value(kind, depth));
            case 1:
                return fmt::format("modulo<{}>({}, {})", type, value(kind, depth), value(kind, depth));
            case 2:
                return fmt::format("{}<{}>({}, {})", chance(50) ? "left" : "right", type, value(kind, depth),
                                   value(u32, depth));
            case 3:
                return fmt::format("{}<{}>({}, {})", chance(50) ? "least" : "most", type, value(kind, depth),
                                   value(kind, depth));
            case 4:
                return fmt::format("{}({}{})", type, chance(50) ? "~" : "-", value(kind, depth));
            default: {
                constexpr const char* operators[] = {"+", "-", "*", "&", "|", "^", "+", "*"};
                const auto [a, b] = two();
                return fmt::format("{}({} {} {})", type, a, one_of(operators), b);
            }
        }
    }

    // A u32 from memory or a function.
    std::string word(unsigned depth) {
        switch (below(6)) {
            case 0:
                return fmt::format("in[{} & 255]", value(u32, depth));
            case 1:
                return fmt::format("u32(((const u16*)in)[{} & 511])", value(u32, depth));
            case 2:
                return fmt::format("u32(((const s8*)in)[{} & 1023])", value(u32, depth));
            case 3:
                return fmt::format("((const V4*)in)[{} & 63].{}", value(u32, depth), "xyzw"[below(4)]);
            case 4:
                return fmt::format("{}_f{}({}, {})", name_, below(functions_), value(u32, depth),
                                   value(s32, depth));
            default:
                return fmt::format("mine[{} + local * {} + ({} & 7)]", random_shared_sums,
                                   random_words_a_thread, value(u32, depth));
        }
    }

    std::string real_value(Kind kind, unsigned depth) {
        constexpr const char* operators[] = {"+", "-", "*", "/", "+", "*"};
        if (kind == f16)
            return fmt::format("halved(f32({}) {} f32({}))", value(f16, depth), "+-*"[below(3)],
                               value(f16, depth));
        switch (below(8)) {
            case 0:
                return call("fused", {value(kind, depth), value(kind, depth), value(kind, depth)});
            case 1: {
                constexpr const char* functions[] = {"root", "below", "above", "nearest", "size"};
                return call(one_of(functions).c_str(), {value(kind, depth)});
            }
            case 2:
                return call(chance(50) ? "least" : "most", {value(kind, depth), value(kind, depth)});
            case 3:
                return call("signed_as", {value(kind, depth), value(kind, depth)});
            default:
                return fmt::format("({} {} {})", value(kind, depth), one_of(operators), value(kind, depth));
        }
    }

    void line(const std::string& text) { text_ += std::string(2 * indent_, ' ') + text + "\n"; }

    void statements(unsigned count, unsigned depth) {
        for (unsigned i = 0; i < count; i++) statement(depth);
    }

    void block(const std::string& head, unsigned depth) {
        line(head + " {");
        indent_++;
        statements(1 + below(3), depth);
        indent_--;
    }

    void statement(unsigned depth) {
        if (depth == 0 || chance(50)) return assignment();
        switch (below(5)) {
            case 0:
            case 1:
                block("if " + condition(2), depth - 1);
                if (chance(50)) block("} else", depth - 1);
                return line("}");
            case 2: {
                const unsigned counter = counters_++;
                block(fmt::format("for (u32 i{0} = 0; i{0} < ({1} & {2}); i{0}++)", counter, value(u32, 1),
                                  1 + below(9)),
                      depth - 1);
                if (chance(30))
                    line(fmt::format("  if {} {};", condition(1), chance(50) ? "break" : "continue"));
                line(fmt::format("  s.ua += i{};", counter));
                return line("}");
            }
            case 3: {
                const unsigned counter = counters_++;
                line(fmt::format("{{ u32 i{} = {} & 7;", counter, value(u32, 1)));
                block(fmt::format("while (i{}-- != 0 && {})", counter, condition(1)), depth - 1);
                return line("} }");
            }
            default: {
                line(fmt::format("switch ({} & 7) {{", value(u32, 1)));
                for (unsigned i = 0; i < 6; i++) {
                    line(fmt::format(" case {}:", i));
                    indent_++;
                    statements(1, depth - 1);
                    if (chance(70)) line("break;");
                    indent_--;
                }
                line(" default: s.ub ^= 5;");
                return line("}");
            }
        }
    }

    void assignment() {
        switch (below(12)) {
            case 0:
                return line(fmt::format("mine[{} + local * {} + ({} & 7)] = {};", random_shared_sums,
                                        random_words_a_thread, value(u32, 1), value(u32, 2)));
            case 1:
                return line(fmt::format("out[thread * {} + ({} & 7)] += {};", random_words_a_thread,
                                        value(u32, 1), value(u32, 2)));
            case 2: {
                const unsigned array = counters_++;
                line(fmt::format("{{ u32 t{}[8]; for (u32 i = 0; i < 8; i++) t{}[i] = i * {};", array, array,
                                 value(u32, 1)));
                line(fmt::format("  t{}[{} & 7] += {}; s.uc ^= t{}[{} & 7] + t{}[{} & 7]; }}", array,
                                 value(u32, 1), value(u32, 1), array, value(u32, 1), array, value(u32, 1)));
                return;
            }
            case 3:
                return line(fmt::format("s.ub = {}_table[{} & 1]({}, {});", name_, value(u32, 1),
                                        value(u32, 1), value(s32, 1)));
            case 4: {
                line(fmt::format("{{ Pair p = {}_pair({}, {});", name_, value(u32, 1), value(f64, 1)));
                return line("  s.uc += p.a; s.db = p.b; s.hb = p.c; }");
            }
            default: {
                const Kind kind = any_kind();
                return line(fmt::format("{} = {};", variable(kind), value(kind, 3)));
            }
        }
    }

    // Functions see no state: their arguments stand for it.
    void functions() {
        for (unsigned i = 0; i < 2; i++) {
            text_ += fmt::format("DEV NOINLINE u32 {}_f{}(u32 a, s32 b) {{\n", name_, i);
            text_ += fmt::format("  if (a < {}) return a * {} + u32(b);\n", 3 + below(20), 3 + below(50));
            text_ += fmt::format("  if (b & {}) return u32(b) ^ {}_f{}(a / {}, b - {});\n", 1 + below(7),
                                 name_, i, 3 + below(5), below(9));
            text_ += fmt::format("  return {}(a {} u32(b)) >> {};\n}}\n", chance(50) ? "turned" : "swapped",
                                 "+-*^"[below(4)], below(9));
        }
        functions_ = 2;
        text_ += fmt::format("TABLE auto {0}_f0_pointer = &{0}_f0;\n", name_);
        text_ += fmt::format("typedef u32 (*{0}_function)(u32, s32);\n", name_);
        text_ += fmt::format("TABLE {0}_function {0}_table[2] = {{{0}_f0, {0}_f1}};\n", name_);
        text_ += fmt::format(
            "DEV NOINLINE Pair {}_pair(u32 a, f64 b) {{ Pair p; p.a = a {} {}; p.b = b * {}.5; p.c = s16(a "
            ">> 3); "
            "return p; }}\n",
            name_, "+-*^"[below(4)], below(1000), below(9));
    }

    void phase(unsigned number) {
        text_ += fmt::format(
            "DEV void {}_phase{}(State& s, u32 thread, u32 local, u32 n, u32* mine, const u32* in, u32* out) "
            "{{\n",
            name_, number);
        indent_ = 1;
        statements(3 + below(6), 3);
        if (chance(40)) {  // of one kind: they commute
            constexpr const char* atomics[] = {"add", "and", "or", "xor", "max", "min"};
            line(fmt::format("__atomic_fetch_{}(mine + ({} & {}), {}, __ATOMIC_RELAXED);", one_of(atomics),
                             value(u32, 1), random_shared_sums - 1, value(u32, 2)));
        }
        text_ += "}\n";
    }
    // What all threads do together. The device's text and the host's, for all of a block.
    void meet(bool exchanges, std::string& device, std::string& host) {
        const unsigned mode = below(exchanges ? 8 : 1);
        if (mode == 0) {
            // A word that another thread wrote, and a sum.
            const unsigned step = 1 + below(31), word = below(random_words_a_thread),
                           sum = below(random_shared_sums);
            const std::string expression =
                fmt::format("mine[{} + (({{}} + {}) % n) * {} + {}] + mine[{}]", random_shared_sums, step,
                            random_words_a_thread, word, sum);
            device += "  __syncthreads();\n  s.ua ^= " + fmt::format(fmt::runtime(expression), "local") +
                      ";\n  __syncthreads();\n";
            host +=
                "  for (u32 t = 0; t < n; t++) all[t].ua ^= " + fmt::format(fmt::runtime(expression), "t") +
                ";\n";
            return;
        }
        // Atomics of one phase and the next do not commute: other warps wait as well.
        device += "  __syncthreads();\n";
        constexpr const char* names[] = {"ua", "ub", "uc"};
        const std::string to = one_of(names), from = one_of(names);
        const unsigned amount = below(32);
        const auto gather = [&](const std::string& lane, const std::string& result) {
            host += fmt::format(
                "  {{ std::vector<State> old = all; for (u32 t = 0; t < n; t++) {{ const u32 w = t & ~31u, "
                "lane = t & 31; "
                "(void)w; (void)lane; {} all[t].{} = {}; }} }}\n",
                lane, to, result);
        };
        switch (mode) {
            case 1:
                device +=
                    fmt::format("  s.{} = __nvvm_shfl_sync_bfly_i32(~0u, s.{}, {}, 31);\n", to, from, amount);
                return gather("", fmt::format("old[w + (lane ^ {})].{}", amount, from));
            case 2:
                device +=
                    fmt::format("  s.{} = __nvvm_shfl_sync_up_i32(~0u, s.{}, {}, 0);\n", to, from, amount);
                return gather(fmt::format("const u32 source = lane >= {0} ? lane - {0} : lane;", amount),
                              fmt::format("old[w + source].{}", from));
            case 3:
                device +=
                    fmt::format("  s.{} = __nvvm_shfl_sync_down_i32(~0u, s.{}, {}, 31);\n", to, from, amount);
                return gather(fmt::format("const u32 source = lane + {0} < 32 ? lane + {0} : lane;", amount),
                              fmt::format("old[w + source].{}", from));
            case 4:
                device += fmt::format("  s.{} = __nvvm_shfl_sync_idx_i32(~0u, s.{}, s.sa, 31);\n", to, from);
                return gather("", fmt::format("old[w + (u32(old[t].sa) & 31)].{}", from));
            case 5:
                device += fmt::format("  s.{} = __nvvm_vote_ballot_sync(~0u, (s.{} >> {}) & 1);\n", to, from,
                                      amount);
                return gather(
                    "u32 votes = 0;" +
                        fmt::format("for (u32 i = 0; i < 32; i++) votes |= ((old[w + i].{} >> {}) & 1) << i;",
                                    from, amount),
                    "votes");
            case 6:
                device += fmt::format("  s.{} = __nvvm_match_any_sync_i32(~0u, s.{} & 3);\n", to, from);
                return gather("u32 same = 0;" +
                                  fmt::format("for (u32 i = 0; i < 32; i++) same |= u32((old[w + i].{0} & 3) "
                                              "== (old[t].{0} & 3)) << i;",
                                              from),
                              "same");
            default:
                device += fmt::format("  s.{} = __nvvm_redux_sync_add(s.{}, ~0u);\n", to, from);
                return gather(
                    "u32 sum = 0;" + fmt::format("for (u32 i = 0; i < 32; i++) sum += old[w + i].{};", from),
                    "sum");
        }
    }

    std::mt19937_64 random_;
    std::string name_, text_;
    unsigned indent_ = 0, counters_ = 0, functions_ = 0;
};

}  // namespace

RandomProgram random_program(std::uint64_t seed, const std::string& name) {
    return Writer(seed, name).write();
}

}  // namespace trimtab::emulator::test
