// The transformer's forward pass on the CPU, in double precision: finite differences of it give gradients.
#pragma once

#include <cmath>
#include <vector>

#include "transformer_kernels.h"

class Reference {
  public:
    using Numbers = std::vector<double>;

    Reference(const Layout& layout, const std::vector<int>& ids, const std::vector<int>& targets, int tokens)
        : layout_(layout), ids_(ids), targets_(targets), tokens_(tokens), rows_(batch * tokens) {}

    double loss(const Numbers& p) const {
        Numbers x(std::size_t(rows_) * channels);
        for (int row = 0; row < rows_; ++row)
            for (int c = 0; c < channels; ++c)
                x[row * channels + c] =
                    p[layout_.wte + ids_[row] * channels + c] + p[layout_.wpe + row % tokens_ * channels + c];
        for (int l = 0; l < layers; ++l) {
            const Numbers ln1 = norm(x, p, layout_.ln1w[l], layout_.ln1b[l]);
            const Numbers qkv = matmul(ln1, p, layout_.qkvw[l], &layout_.qkvb[l], channels, 3 * channels);
            add(x, matmul(attention(qkv), p, layout_.projw[l], &layout_.projb[l], channels, channels));
            const Numbers ln2 = norm(x, p, layout_.ln2w[l], layout_.ln2b[l]);
            Numbers wide = matmul(ln2, p, layout_.fcw[l], &layout_.fcb[l], channels, 4 * channels);
            for (double& v : wide)
                v = 0.5 * v * (1.0 + std::tanh(0.7978845608028654 * (v + 0.044715 * v * v * v)));
            add(x, matmul(wide, p, layout_.fcprojw[l], &layout_.fcprojb[l], 4 * channels, channels));
        }
        const Numbers last = norm(x, p, layout_.lnfw, layout_.lnfb);
        const Numbers logits = matmul(last, p, layout_.wte, nullptr, channels, vocabulary);
        double sum = 0.0;
        for (int row = 0; row < rows_; ++row) {
            double exponentials = 0.0;
            for (int v = 0; v < vocabulary; ++v) exponentials += std::exp(logits[row * vocabulary + v]);
            sum += std::log(exponentials) - logits[row * vocabulary + targets_[row]];
        }
        return sum / rows_;
    }

    // By the central difference.
    double gradient(Numbers& p, std::size_t at) const {
        const double here = p[at], step = 1e-4;
        p[at] = here + step;
        const double above = loss(p);
        p[at] = here - step;
        const double below = loss(p);
        p[at] = here;
        return (above - below) / (2.0 * step);
    }

  private:
    static void add(Numbers& to, const Numbers& what) {
        for (std::size_t i = 0; i < to.size(); ++i) to[i] += what[i];
    }
    Numbers norm(const Numbers& x, const Numbers& p, std::size_t weight, std::size_t bias) const {
        Numbers out(x.size());
        for (int row = 0; row < rows_; ++row) {
            const double* in = &x[std::size_t(row) * channels];
            double mean = 0.0, variance = 0.0;
            for (int c = 0; c < channels; ++c) mean += in[c] / channels;
            for (int c = 0; c < channels; ++c) variance += (in[c] - mean) * (in[c] - mean) / channels;
            for (int c = 0; c < channels; ++c)
                out[row * channels + c] =
                    (in[c] - mean) / std::sqrt(variance + 1e-5) * p[weight + c] + p[bias + c];
        }
        return out;
    }
    Numbers matmul(const Numbers& x, const Numbers& p, std::size_t weight, const std::size_t* bias, int ins,
                   int outs) const {
        Numbers out(std::size_t(rows_) * outs);
        for (int row = 0; row < rows_; ++row)
            for (int o = 0; o < outs; ++o) {
                double sum = bias != nullptr ? p[*bias + o] : 0.0;
                for (int c = 0; c < ins; ++c) sum += x[row * ins + c] * p[weight + o * ins + c];
                out[row * outs + o] = sum;
            }
        return out;
    }
    Numbers attention(const Numbers& qkv) const {
        Numbers out(std::size_t(rows_) * channels), weights(tokens_);
        for (int row = 0; row < rows_; ++row)
            for (int h = 0; h < heads; ++h) {
                const int first = row / tokens_ * tokens_;
                const auto part = [&](int of, int which, int k) {
                    return qkv[std::size_t(of) * 3 * channels + which * channels + h * head_size + k];
                };
                double sum = 0.0;
                for (int t2 = 0; first + t2 <= row; ++t2) {
                    double dot = 0.0;
                    for (int k = 0; k < head_size; ++k) dot += part(row, 0, k) * part(first + t2, 1, k);
                    sum += weights[t2] = std::exp(dot / std::sqrt(double(head_size)));
                }
                for (int t2 = 0; first + t2 <= row; ++t2)
                    for (int k = 0; k < head_size; ++k)
                        out[row * channels + h * head_size + k] += weights[t2] / sum * part(first + t2, 2, k);
            }
        return out;
    }

    const Layout& layout_;
    const std::vector<int>&ids_, &targets_;
    int tokens_, rows_;
};
