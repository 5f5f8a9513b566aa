// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PolyBench's 21 OpenCL kinds on one platform, against the CPU:
//     opencl_polybench PLATFORM SOURCE.cl RESULTS [N]
// 0: all are right, and RESULTS has what they left, byte for byte.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>

#include "tests/emulation/opencl/platform/host.h"

namespace {

using namespace trimtab::opencl::test;
using Array = std::vector<float>;

int n = 48;
std::size_t size(int dimensions) {
    std::size_t count = 1;
    for (int d = 0; d < dimensions; ++d) count *= static_cast<std::size_t>(n);
    return count;
}
float& at(Array& m, int i, int j) {
    return m[static_cast<std::size_t>(i) * static_cast<std::size_t>(n) + static_cast<std::size_t>(j)];
}
Array filled(int dimensions, unsigned seed) {
    Array out(size(dimensions));
    for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = static_cast<float>((i * 7 + seed * 13 + i / 11) % 29) / 32 + 0.25f;
    return out;
}

// The same steps on a device and on the CPU.
class Bench {
  public:
    Bench(const Host& host, const Program& program, std::vector<Array> arrays)
        : host_(host), program_(program) {
        for (const Array& array : arrays) buffers_.push_back(host.buffer(array));
        expected_ = std::move(arrays);
    }
    template <class... Scalars>
    void run(const char* name, std::vector<int> dimensions_and_arrays, const Scalars&... scalars) {
        const Kernel kernel = host_.kernel(program_, name);
        cl_uint index = 0;
        for (std::size_t i = 1; i < dimensions_and_arrays.size(); ++i)
            check(set_argument(kernel.get(), index++,
                               buffers_[static_cast<std::size_t>(dimensions_and_arrays[i])]));
        (check(set_argument(kernel.get(), index++, scalars)), ...);
        check(set_argument(kernel.get(), index, n));
        const auto whole = [](std::size_t unit) {
            return (static_cast<std::size_t>(n) + unit - 1) / unit * unit;
        };
        check(dimensions_and_arrays[0] == 1 ? host_.run(kernel, {whole(64)}, {64})
                                            : host_.run(kernel, {whole(32), whole(8)}, {32, 8}));
    }
    [[nodiscard]] Array& cpu(int index) { return expected_[static_cast<std::size_t>(index)]; }
    bool finish(const char* kind, std::ostream& results) {
        double worst = 0;
        for (std::size_t i = 0; i < buffers_.size(); ++i) {
            const Array found = host_.read<float>(buffers_[i], expected_[i].size());
            results.write(reinterpret_cast<const char*>(found.data()),
                          static_cast<std::streamsize>(found.size() * sizeof(float)));
            for (std::size_t k = 0; k < found.size(); ++k) {
                const double error = std::fabs(found[k] - expected_[i][k]) / (1 + std::fabs(expected_[i][k]));
                if (!(error <= worst)) worst = error;
            }
        }
        const bool is_right = failures_ == 0 && worst < 2e-3;
        std::printf("%-10s %s, largest error %.2g\n", kind, is_right ? "right" : "WRONG", worst);
        return is_right;
    }

  private:
    void check(cl_int status) {
        if (status != CL_SUCCESS) ++failures_;
    }
    const Host& host_;
    const Program& program_;
    std::vector<Memory> buffers_;
    std::vector<Array> expected_;
    int failures_ = 0;
};

void product(Bench& b, int a, int m, int c, float alpha, float beta) {
    b.run("multiply", {2, a, m, c}, alpha, beta);
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            double sum = at(b.cpu(c), i, j) * beta;
            for (int k = 0; k < n; ++k) sum += double{alpha} * at(b.cpu(a), i, k) * at(b.cpu(m), k, j);
            at(b.cpu(c), i, j) = static_cast<float>(sum);
        }
}
void times(Bench& b, const char* kernel, bool rows, int a, int x, int y, float factor) {
    b.run(kernel, {1, a, x, y}, factor);
    Array out = b.cpu(y);
    for (int i = 0; i < n; ++i) {
        double sum = out[static_cast<std::size_t>(i)];
        for (int j = 0; j < n; ++j)
            sum += double{factor} * (rows ? at(b.cpu(a), i, j) : at(b.cpu(a), j, i)) *
                   b.cpu(x)[static_cast<std::size_t>(j)];
        out[static_cast<std::size_t>(i)] = static_cast<float>(sum);
    }
    b.cpu(y) = out;
}
void average(Bench& b) {
    b.run("means", {1, 0, 1});
    for (int j = 0; j < n; ++j) {
        double sum = 0;
        for (int i = 0; i < n; ++i) sum += at(b.cpu(0), i, j);
        b.cpu(1)[static_cast<std::size_t>(j)] = static_cast<float>(sum / n);
    }
}
void column_products(Bench& b, int out) {
    b.run("products_of_columns", {1, 0, out});
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            double sum = 0;
            for (int k = 0; k < n; ++k) sum += double{at(b.cpu(0), k, i)} * at(b.cpu(0), k, j);
            at(b.cpu(out), i, j) = static_cast<float>(sum);
        }
}

struct Kind {
    const char* name;
    std::vector<int> dimensions;  // of its arrays
    std::function<void(Bench&)> steps;
};

std::vector<Kind> kinds() {
    std::vector<Kind> all;
    all.push_back({"gemm", {2, 2, 2}, [](Bench& b) { product(b, 0, 1, 2, 0.7f, 1.1f); }});
    all.push_back({"2mm", {2, 2, 2, 2, 2}, [](Bench& b) {
                       product(b, 0, 1, 2, 0.05f, 0);
                       product(b, 2, 3, 4, 0.5f, 0.3f);
                   }});
    all.push_back({"3mm", {2, 2, 2, 2, 2, 2, 2}, [](Bench& b) {
                       product(b, 0, 1, 2, 0.05f, 0);
                       product(b, 3, 4, 5, 0.05f, 0);
                       product(b, 2, 5, 6, 0.05f, 0);
                   }});
    all.push_back({"syrk", {2, 2}, [](Bench& b) {
                       b.run("rank_update", {2, 0, 1}, 0.6f, 0.9f);
                       for (int i = 0; i < n; ++i)
                           for (int j = 0; j < n; ++j) {
                               double sum = at(b.cpu(1), i, j) * 0.9;
                               for (int k = 0; k < n; ++k)
                                   sum += 0.6 * at(b.cpu(0), i, k) * at(b.cpu(0), j, k);
                               at(b.cpu(1), i, j) = static_cast<float>(sum);
                           }
                   }});
    all.push_back({"syr2k", {2, 2, 2}, [](Bench& b) {
                       b.run("rank_update_of_two", {2, 0, 1, 2}, 0.6f, 0.9f);
                       for (int i = 0; i < n; ++i)
                           for (int j = 0; j < n; ++j) {
                               double sum = at(b.cpu(2), i, j) * 0.9;
                               for (int k = 0; k < n; ++k)
                                   sum += 0.6 * (double{at(b.cpu(0), i, k)} * at(b.cpu(1), j, k) +
                                                 double{at(b.cpu(1), i, k)} * at(b.cpu(0), j, k));
                               at(b.cpu(2), i, j) = static_cast<float>(sum);
                           }
                   }});
    all.push_back({"2dconv", {2, 2}, [](Bench& b) {
                       b.run("convolve_plane", {2, 0, 1});
                       Array& in = b.cpu(0);
                       for (int i = 1; i < n - 1; ++i)
                           for (int j = 1; j < n - 1; ++j)
                               at(b.cpu(1), i, j) = 0.2f * at(in, i - 1, j - 1) - 0.3f * at(in, i, j - 1) +
                                                    0.4f * at(in, i + 1, j - 1) + 0.5f * at(in, i - 1, j) +
                                                    0.6f * at(in, i, j) - 0.7f * at(in, i + 1, j) -
                                                    0.8f * at(in, i - 1, j + 1) + 0.9f * at(in, i, j + 1) +
                                                    0.1f * at(in, i + 1, j + 1);
                   }});
    all.push_back({"3dconv", {3, 3}, [](Bench& b) {
                       const auto in = [&](int i, int j, int k) { return at(b.cpu(0), i * n + j, k); };
                       for (int i = 1; i < n - 1; ++i) {
                           b.run("convolve_volume", {2, 0, 1}, i);
                           for (int j = 1; j < n - 1; ++j)
                               for (int k = 1; k < n - 1; ++k)
                                   at(b.cpu(1), i * n + j, k) =
                                       0.2f * in(i - 1, j - 1, k - 1) + 0.5f * in(i + 1, j - 1, k - 1) -
                                       0.3f * in(i, j, k) + 0.4f * in(i + 1, j + 1, k + 1) -
                                       0.6f * in(i - 1, j + 1, k) + 0.1f * in(i, j, k + 1);
                       }
                   }});
    all.push_back({"atax", {2, 1, 1, 1}, [](Bench& b) {
                       times(b, "rows_times", true, 0, 1, 2, 0.1f);
                       times(b, "columns_times", false, 0, 2, 3, 0.1f);
                   }});
    all.push_back({"bicg", {2, 1, 1, 1, 1}, [](Bench& b) {
                       times(b, "rows_times", true, 0, 1, 2, 1.0f);
                       times(b, "columns_times", false, 0, 3, 4, 1.0f);
                   }});
    all.push_back({"mvt", {2, 1, 1, 1, 1}, [](Bench& b) {
                       times(b, "rows_times", true, 0, 1, 2, 0.4f);
                       times(b, "columns_times", false, 0, 3, 4, 0.4f);
                   }});
    all.push_back({"gesummv", {2, 2, 1, 1}, [](Bench& b) {
                       b.run("sum_of_products", {1, 0, 1, 2, 3}, 0.4f, 0.6f);
                       for (int i = 0; i < n; ++i) {
                           double s = 0, t = 0;
                           for (int j = 0; j < n; ++j) {
                               s += double{at(b.cpu(0), i, j)} * b.cpu(2)[static_cast<std::size_t>(j)];
                               t += double{at(b.cpu(1), i, j)} * b.cpu(2)[static_cast<std::size_t>(j)];
                           }
                           b.cpu(3)[static_cast<std::size_t>(i)] = static_cast<float>(0.4 * s + 0.6 * t);
                       }
                   }});
    all.push_back({"gemver", {2, 1, 1, 1, 1, 1, 1, 1, 1}, [](Bench& b) {
                       b.run("add_outer", {2, 0, 1, 2, 3, 4});
                       for (int i = 0; i < n; ++i)
                           for (int j = 0; j < n; ++j) {
                               const auto x = static_cast<std::size_t>(i), y = static_cast<std::size_t>(j);
                               at(b.cpu(0), i, j) += b.cpu(1)[x] * b.cpu(2)[y] + b.cpu(3)[x] * b.cpu(4)[y];
                           }
                       times(b, "columns_times", false, 0, 5, 6, 0.02f);
                       b.run("add_vector", {1, 6, 7});
                       for (std::size_t i = 0; i < size(1); ++i) b.cpu(6)[i] += b.cpu(7)[i];
                       times(b, "rows_times", true, 0, 6, 8, 0.02f);
                   }});
    all.push_back({"covar", {2, 1, 2}, [](Bench& b) {
                       average(b);
                       b.run("centre", {2, 0, 1});
                       for (int i = 0; i < n; ++i)
                           for (int j = 0; j < n; ++j)
                               at(b.cpu(0), i, j) -= b.cpu(1)[static_cast<std::size_t>(j)];
                       column_products(b, 2);
                   }});
    all.push_back({"corr", {2, 1, 1, 2}, [](Bench& b) {
                       average(b);
                       b.run("deviations", {1, 0, 1, 2});
                       for (int j = 0; j < n; ++j) {
                           const double mean = b.cpu(1)[static_cast<std::size_t>(j)];
                           double sum = 0;
                           for (int i = 0; i < n; ++i) sum += std::pow(at(b.cpu(0), i, j) - mean, 2);
                           const double root = std::sqrt(sum / n);
                           b.cpu(2)[static_cast<std::size_t>(j)] =
                               root <= 0.005 ? 1.0f : static_cast<float>(root);
                       }
                       b.run("standardise", {2, 0, 1, 2});
                       for (int i = 0; i < n; ++i)
                           for (int j = 0; j < n; ++j) {
                               const auto y = static_cast<std::size_t>(j);
                               at(b.cpu(0), i, j) = (at(b.cpu(0), i, j) - b.cpu(1)[y]) /
                                                    (std::sqrt(static_cast<float>(n)) * b.cpu(2)[y]);
                           }
                       column_products(b, 3);
                   }});
    all.push_back({"doitgen", {3, 2, 3}, [](Bench& b) {
                       for (int r = 0; r < n; ++r) {
                           b.run("contract", {2, 0, 1, 2}, r);
                           b.run("put_back", {2, 0, 2}, r);
                           for (int q = 0; q < n; ++q)
                               for (int p = 0; p < n; ++p) {
                                   double sum = 0;
                                   for (int k = 0; k < n; ++k)
                                       sum += double{at(b.cpu(0), r * n + q, k)} * at(b.cpu(1), k, p);
                                   at(b.cpu(2), r * n + q, p) = static_cast<float>(sum);
                               }
                           for (int q = 0; q < n; ++q)
                               for (int p = 0; p < n; ++p)
                                   at(b.cpu(0), r * n + q, p) = at(b.cpu(2), r * n + q, p);
                       }
                   }});
    all.push_back({"fdtd-2d", {2, 2, 2}, [](Bench& b) {  // ex, ey, hz
                       for (int t = 0; t < 4; ++t) {
                           const auto source = static_cast<float>(t);
                           b.run("fdtd_y", {2, 1, 2}, source);
                           b.run("fdtd_x", {2, 0, 2});
                           b.run("fdtd_z", {2, 0, 1, 2});
                           Array &ex = b.cpu(0), &ey = b.cpu(1), &hz = b.cpu(2);
                           for (int i = 0; i < n; ++i)
                               for (int j = 0; j < n; ++j)
                                   at(ey, i, j) =
                                       i == 0 ? source
                                              : at(ey, i, j) - 0.5f * (at(hz, i, j) - at(hz, i - 1, j));
                           for (int i = 0; i < n; ++i)
                               for (int j = 1; j < n; ++j)
                                   at(ex, i, j) -= 0.5f * (at(hz, i, j) - at(hz, i, j - 1));
                           for (int i = 0; i < n - 1; ++i)
                               for (int j = 0; j < n - 1; ++j)
                                   at(hz, i, j) -= 0.7f * (at(ex, i, j + 1) - at(ex, i, j) +
                                                           at(ey, i + 1, j) - at(ey, i, j));
                       }
                   }});
    all.push_back({"gramschm", {2, 2, 2}, [](Bench& b) {  // a, r, q: a few columns
                       for (int k = 0; k < 3; ++k) {
                           b.run("norm_of_column", {1, 0, 1}, k);
                           b.run("scale_column", {1, 0, 1, 2}, k);
                           b.run("take_off", {1, 0, 1, 2}, k);
                           Array &a = b.cpu(0), &r = b.cpu(1), &q = b.cpu(2);
                           double sum = 0;
                           for (int i = 0; i < n; ++i) sum += double{at(a, i, k)} * at(a, i, k);
                           at(r, k, k) = static_cast<float>(std::sqrt(sum));
                           for (int i = 0; i < n; ++i) at(q, i, k) = at(a, i, k) / at(r, k, k);
                           for (int j = k + 1; j < n; ++j) {
                               double dot = 0;
                               for (int i = 0; i < n; ++i) dot += double{at(q, i, k)} * at(a, i, j);
                               at(r, k, j) = static_cast<float>(dot);
                               for (int i = 0; i < n; ++i) at(a, i, j) -= at(q, i, k) * at(r, k, j);
                           }
                       }
                   }});
    all.push_back({"jacobi-1d", {1, 1}, [](Bench& b) {
                       for (int t = 0; t < 5; ++t) {
                           b.run("smooth_line", {1, 0, 1});
                           b.run("copy_line", {1, 0, 1});
                           Array &x = b.cpu(0), &y = b.cpu(1);
                           for (std::size_t i = 1; i + 1 < size(1); ++i)
                               y[i] = 0.33333f * (x[i - 1] + x[i] + x[i + 1]);
                           for (std::size_t i = 1; i + 1 < size(1); ++i) x[i] = y[i];
                       }
                   }});
    all.push_back({"jacobi-2d", {2, 2}, [](Bench& b) {
                       for (int t = 0; t < 3; ++t) {
                           b.run("smooth_plane", {2, 0, 1});
                           b.run("copy_plane", {2, 0, 1});
                           Array &x = b.cpu(0), &y = b.cpu(1);
                           for (int i = 1; i < n - 1; ++i)
                               for (int j = 1; j < n - 1; ++j)
                                   at(y, i, j) = 0.2f * (at(x, i, j) + at(x, i, j - 1) + at(x, i, j + 1) +
                                                         at(x, i + 1, j) + at(x, i - 1, j));
                           for (int i = 1; i < n - 1; ++i)
                               for (int j = 1; j < n - 1; ++j) at(x, i, j) = at(y, i, j);
                       }
                   }});
    all.push_back({"lu", {2}, [](Bench& b) {
                       Array& a = b.cpu(0);
                       for (int k = 0; k < 4; ++k) {
                           b.run("divide_row", {1, 0}, k);
                           b.run("eliminate", {2, 0}, k);
                           for (int j = k + 1; j < n; ++j) at(a, k, j) /= at(a, k, k);
                           for (int i = k + 1; i < n; ++i)
                               for (int j = k + 1; j < n; ++j) at(a, i, j) -= at(a, i, k) * at(a, k, j);
                       }
                   }});
    all.push_back({"adi", {2, 2, 2}, [](Bench& b) {  // a, b, x
                       Array &a = b.cpu(0), &m = b.cpu(1), &x = b.cpu(2);
                       b.run("sweep_rows", {1, 0, 1, 2});
                       for (int i = 0; i < n; ++i) {
                           for (int j = 1; j < n; ++j) {
                               at(x, i, j) -= at(x, i, j - 1) * at(a, i, j) / at(m, i, j - 1);
                               at(m, i, j) -= at(a, i, j) * at(a, i, j) / at(m, i, j - 1);
                           }
                           at(x, i, n - 1) /= at(m, i, n - 1);
                           for (int j = n - 2; j > 0; --j)
                               at(x, i, j) =
                                   (at(x, i, j) - at(x, i, j - 1) * at(a, i, j - 1)) / at(m, i, j - 1);
                       }
                       for (int i = 1; i < n; ++i) {
                           b.run("sweep_column", {1, 0, 1, 2}, i);
                           for (int j = 0; j < n; ++j) {
                               at(x, i, j) -= at(x, i - 1, j) * at(a, i, j) / at(m, i - 1, j);
                               at(m, i, j) -= at(a, i, j) * at(a, i, j) / at(m, i - 1, j);
                           }
                       }
                   }});
    return all;
}

}  // namespace

int main(int count, char** words) {
    if (count < 4) {
        std::fprintf(stderr, "usage: %s PLATFORM SOURCE.cl RESULTS [N]\n", words[0]);
        return 2;
    }
    if (count > 4) n = std::atoi(words[4]);
    const Host host(words[1]);
    if (host.device() == nullptr) return 3;
    std::ifstream file(words[2]);
    const Program program = host.build({std::istreambuf_iterator<char>(file), {}});
    std::ofstream results(words[3], std::ios::binary);
    int right = 0;
    const std::vector<Kind> all = kinds();
    for (const Kind& kind : all) {
        std::vector<Array> arrays;
        for (std::size_t i = 0; i < kind.dimensions.size(); ++i) {
            arrays.push_back(filled(kind.dimensions[i], static_cast<unsigned>(i)));
            // Divided by: kept away from 0, and from chaos.
            if ((kind.name == std::string("adi") && i == 1) || kind.name == std::string("lu"))
                for (std::size_t k = 0; k < arrays.back().size(); ++k)
                    arrays.back()[k] += i == 1                                       ? 8.0f
                                        : k % (static_cast<std::size_t>(n) + 1) == 0 ? 50.0f
                                                                                     : 0.0f;
        }
        Bench bench(host, program, std::move(arrays));
        kind.steps(bench);
        right += bench.finish(kind.name, results) ? 1 : 0;
    }
    std::printf("%d of %zu\n", right, all.size());
    return right == static_cast<int>(all.size()) ? 0 : 1;
}
