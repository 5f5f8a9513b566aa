// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "choosing/choices/doubt_text.h"

#include <fmt/format.h>

#include <cstddef>
#include <string_view>

namespace trimtab::choosing {
namespace {

// What a driver program of this build or an earlier one says of its profile.
class Told {
  public:
    Told(const trimtab_driver& driver, std::span<const double> data) : driver_(driver), data_(data) {}

    [[nodiscard]] std::string data(std::uint32_t place) const {
        return place < driver_.data_count && driver_.data_names != nullptr ? driver_.data_names[place]
                                                                           : "a value";
    }
    [[nodiscard]] std::string metric(std::uint32_t place) const {
        return place < driver_.metric_count && driver_.metric_names != nullptr ? driver_.metric_names[place]
                                                                               : "a count";
    }
    [[nodiscard]] bool has_ends(std::uint32_t place) const {
        return driver_.struct_bytes >= offsetof(trimtab_driver, keeps_order) &&
               driver_.profiled_least != nullptr && driver_.profiled_most != nullptr &&
               place < driver_.data_count;
    }
    [[nodiscard]] double least(std::uint32_t place) const { return driver_.profiled_least[place]; }
    [[nodiscard]] double most(std::uint32_t place) const { return driver_.profiled_most[place]; }

    // "profiled at 1 alone", "profiled from 64 to 256".
    [[nodiscard]] std::string ends(std::uint32_t place) const {
        if (!has_ends(place)) return {};
        return least(place) == most(place)
                   ? fmt::format("profiled at {:g} alone", least(place))
                   : fmt::format("profiled from {:g} to {:g}", least(place), most(place));
    }

    // Sizes that lie below those of the profile, or above: fits go on beyond it and may part from the kernel there.
    // Extents follow from other data: they count where these are not to blame.
    [[nodiscard]] std::string outside() const {
        for (const bool extents : {false, true}) {
            std::string text;
            for (std::uint32_t i = 0; i < driver_.data_count && i < data_.size(); ++i) {
                if (!has_ends(i) || std::string_view(data(i)).starts_with("extent.") != extents) continue;
                const bool below = data_[i] < least(i);
                if (!below && !(data_[i] > most(i))) continue;
                text += fmt::format(
                    "{}{} is {}, the {} that was profiled", text.empty() ? " (" : "; ", data(i),
                    below ? fmt::format("below {:g}", least(i)) : fmt::format("above {:g}", most(i)),
                    below ? "least" : "most");
            }
            if (!text.empty()) return text + ")";
        }
        return {};
    }

  private:
    const trimtab_driver& driver_;
    std::span<const double> data_;
};

}  // namespace

std::string doubt_text(const trimtab_driver& driver, std::span<const double> data, std::uint32_t doubt) {
    const Told told(driver, data);
    const std::uint32_t place = TRIMTAB_DOUBT_PLACE(doubt);
    switch (TRIMTAB_DOUBT_WHY(doubt)) {
        case TRIMTAB_DOUBT_OTHER_VALUE:
            return fmt::format("{} has a value that was not profiled{}", told.data(place),
                               told.has_ends(place) ? " (" + told.ends(place) + ")" : "");
        case TRIMTAB_DOUBT_TOO_SMALL:
            if (place < data.size() && data[place] < 0) return fmt::format("{} is below 0", told.data(place));
            return told.has_ends(place) ? fmt::format("{} is below {:g}, the least stride that was profiled",
                                                      told.data(place), told.least(place))
                                        : fmt::format("{} is too small", told.data(place));
        case TRIMTAB_DOUBT_IDLE:
            return "no thread passes the kernel's guards";
        case TRIMTAB_DOUBT_NO_COUNT:
            return fmt::format("{} comes out below 0{}", told.metric(place), told.outside());
        case TRIMTAB_DOUBT_RIVALS:
            return fmt::format("{} may be 0 or not, as far as the profile tells{}", told.metric(place),
                               told.outside());
        case TRIMTAB_DOUBT_ARRAYS:
            return fmt::format("{} depends on what the arrays hold", told.metric(place));
        case TRIMTAB_DOUBT_NUMBER:
            return fmt::format("how much is done depends on {}{}", told.data(place),
                               told.has_ends(place) ? ", " + told.ends(place) : "");
        case TRIMTAB_DOUBT_ERROR:
            return fmt::format("{} is known too roughly{}", told.metric(place), told.outside());
        default:
            return {};
    }
}

std::string doubt_advice(std::uint32_t doubt) {
    // The program itself makes no other launch than that.
    if (doubt == 0 || TRIMTAB_DOUBT_WHY(doubt) == TRIMTAB_DOUBT_IDLE) return {};
    return "`trimtab profile -- PROGRAM ...` profiles such launches for the next build";
}

}  // namespace trimtab::choosing
