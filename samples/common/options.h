// The command line every sample takes: [N [STEPS]] [--dump FILE].
#pragma once

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace sample {

struct Limits {
    int default_n;
    int max_n;
    int default_steps = 0;  // 0: the program takes no step count
    int max_steps = 0;
};

struct Options {
    int n;
    int steps;
    std::string dump_path;  // empty: no dump wanted
};

inline bool parse_count(const char* text, int max, int& value) {
    const char* end = text + std::strlen(text);
    const auto [stop, error] = std::from_chars(text, end, value);
    return error == std::errc{} && stop == end && value >= 1 && value <= max;
}

// Returns what the command line asks for; a bad one ends the program with one line and exit status 2.
inline Options parse_options(int argc, char** argv, const Limits& limits) {
    const bool has_steps = limits.default_steps > 0;
    Options options{limits.default_n, limits.default_steps, {}};
    int positional = 0;
    for (int i = 1; i < argc; ++i) {
        const char* argument = argv[i];
        if (std::strcmp(argument, "--help") == 0) {
            std::printf("usage: %s [N%s] [--dump FILE]   (N: 1 to %d, default %d)\n", argv[0],
                        has_steps ? " [STEPS]" : "", limits.max_n, limits.default_n);
            std::exit(0);
        }
        if (std::strcmp(argument, "--dump") == 0) {
            if (++i == argc) {
                std::fprintf(stderr, "%s: --dump needs a file name\n", argv[0]);
                std::exit(2);
            }
            options.dump_path = argv[i];
            continue;
        }
        ++positional;
        if (positional > (has_steps ? 2 : 1)) {
            std::fprintf(stderr, "%s: unexpected argument '%s'\n", argv[0], argument);
            std::exit(2);
        }
        const bool is_n = positional == 1;
        const int max = is_n ? limits.max_n : limits.max_steps;
        if (!parse_count(argument, max, is_n ? options.n : options.steps)) {
            std::fprintf(stderr, "%s: %s must be a whole number from 1 to %d, not '%s'\n", argv[0],
                         is_n ? "N" : "STEPS", max, argument);
            std::exit(2);
        }
    }
    return options;
}

}  // namespace sample
