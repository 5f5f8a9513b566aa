// Training steps of a two-layer transformer (decoder only, weights of the embedding shared with the classifier): forward,
// backward, clipping by the norm of the gradient, AdamW. N is the length of a sequence.
#include <algorithm>
#include <deque>

#include "../common/sample.h"
#include "transformer_kernels.h"
#include "transformer_reference.h"

constexpr int div_up(int a, int b) {
    return (a + b - 1) / b;
}

class Model {
  public:
    Model(const Layout& layout, const std::vector<float>& parameters, int tokens)
        : layout_(layout),
          tokens_(tokens),
          rows_(batch * tokens),
          parameters_(parameters),
          gradients_(layout.total),
          first_(layout.total),
          second_(layout.total),
          logits_(std::size_t(rows_) * vocabulary),
          losses_(rows_),
          loss_(1),
          sums_(partials),
          norm_(1),
          dresidual_(per_row(channels)),
          dnorm_(per_row(channels)),
          dwide_(per_row(4 * channels)),
          dscores_(square()) {
        for (int l = 0; l < layers; ++l) layers_.emplace_back(*this);
    }

    float loss_and_gradients(const int* ids, const int* targets) {
        forward(ids);
        timers_.time("classifier", [&] {
            classifier<128><<<rows_, 128>>>(losses_.data(), logits_.data(), targets, rows_);
        });
        timers_.time("sum_of",
                     [&] { sum_of<256><<<1, 256>>>(loss_.data(), losses_.data(), rows_, 1.0f / rows_); });
        backward(ids);
        return loss_.to_host()[0];
    }

    void update(int step) {
        const AdamW how{
            3e-3f, 0.9f, 0.95f, 1e-8f, 0.01f, 1.0f - std::pow(0.9f, step), 1.0f - std::pow(0.95f, step),
            1.0f};
        const int n = static_cast<int>(layout_.total);
        timers_.time("squares", [&] { squares<256><<<partials, 256>>>(sums_.data(), gradients_.data(), n); });
        timers_.time("sum_of", [&] { sum_of<256><<<1, 256>>>(norm_.data(), sums_.data(), partials, 1.0f); });
        timers_.time("adamw", [&] {
            adamw<<<div_up(n, 512), 512>>>(parameters_.data(), gradients_.data(), first_.data(),
                                           second_.data(), n, how, norm_.data());
        });
    }

    std::vector<float> gradients() const { return gradients_.to_host(); }
    std::vector<float> parameters() const { return parameters_.to_host(); }
    void print_times() const { timers_.print(); }

  private:
    static constexpr int partials = 32;

    struct Layer {
        explicit Layer(const Model& of)
            : in(of.per_row(channels)),
              ln1(of.per_row(channels)),
              mean1(of.rows_),
              rstd1(of.rows_),
              qkv(of.per_row(3 * channels)),
              scores(of.square()),
              weights(of.square()),
              values(of.per_row(channels)),
              added(of.per_row(channels)),
              middle(of.per_row(channels)),
              ln2(of.per_row(channels)),
              mean2(of.rows_),
              rstd2(of.rows_),
              wide(of.per_row(4 * channels)),
              gelu(of.per_row(4 * channels)) {}
        sample::DeviceArray<float> in, ln1, mean1, rstd1, qkv, scores, weights, values, added, middle, ln2,
            mean2, rstd2, wide, gelu;
    };

    std::size_t per_row(int count) const { return std::size_t(rows_) * count; }
    std::size_t square() const { return std::size_t(batch) * heads * tokens_ * tokens_; }
    float* parameter(std::size_t begin) { return parameters_.data() + begin; }
    float* gradient(std::size_t begin) { return gradients_.data() + begin; }

    void norm(float* out, float* mean, float* rstd, const float* in, std::size_t weight, std::size_t bias) {
        timers_.time("layernorm_forward", [&] {
            layernorm_forward<<<div_up(rows_ * 32, 256), 256>>>(out, mean, rstd, in, parameter(weight),
                                                                parameter(bias), rows_);
        });
    }
    void norm_backward(float* din, const float* dout, const float* in, float* mean, float* rstd,
                       std::size_t weight, std::size_t bias) {
        timers_.time("layernorm_backward_weights", [&] {
            layernorm_backward_weights<<<div_up(channels, 128), 128>>>(gradient(weight), gradient(bias), dout,
                                                                       in, mean, rstd, rows_);
        });
        timers_.time("layernorm_backward_input", [&] {
            layernorm_backward_input<<<div_up(rows_ * 32, 256), 256>>>(din, dout, in, parameter(weight), mean,
                                                                       rstd, rows_);
        });
    }
    void matmul(float* out, const float* in, std::size_t weight, std::size_t bias, int ins, int outs) {
        const dim3 block(tile, tile), grid(div_up(outs, tile), div_up(rows_, tile));
        timers_.time("matmul_forward", [&] {
            matmul_forward<true>
                <<<grid, block>>>(out, in, parameter(weight), parameter(bias), rows_, ins, outs);
        });
    }
    void matmul_backward(float* din, const float* dout, const float* in, std::size_t weight, int ins,
                         int outs) {
        const dim3 block(16, 16);
        timers_.time("matmul_backward_input", [&] {
            matmul_backward_input<<<dim3(div_up(ins, 16), div_up(rows_, 16)), block>>>(
                din, dout, parameter(weight), rows_, ins, outs);
        });
        timers_.time("matmul_backward_weight", [&] {
            matmul_backward_weight<<<dim3(div_up(ins, 16), div_up(outs, 16)), block>>>(gradient(weight), dout,
                                                                                       in, rows_, ins, outs);
        });
    }
    void bias_backward(const float* dout, std::size_t bias, int outs) {
        timers_.time("matmul_backward_bias", [&] {
            matmul_backward_bias<<<div_up(outs, 32), dim3(32, 8)>>>(gradient(bias), dout, rows_, outs);
        });
    }
    void add(float* out, const float* a, const float* b) {
        const int n = rows_ * channels;
        timers_.time("residual_forward", [&] { residual_forward<<<div_up(n, 256), 256>>>(out, a, b, n); });
    }

    void forward(const int* ids) {
        const int n = rows_ * channels, pairs = static_cast<int>(square()), wide = 4 * rows_ * channels;
        timers_.time("encoder_forward", [&] {
            encoder_forward<<<div_up(n, 256), 256>>>(layers_[0].in.data(), ids, parameter(layout_.wte),
                                                     parameter(layout_.wpe), tokens_);
        });
        for (int l = 0; l < layers; ++l) {
            Layer& x = layers_[l];
            norm(x.ln1.data(), x.mean1.data(), x.rstd1.data(), x.in.data(), layout_.ln1w[l], layout_.ln1b[l]);
            matmul(x.qkv.data(), x.ln1.data(), layout_.qkvw[l], layout_.qkvb[l], channels, 3 * channels);
            timers_.time("attention_scores", [&] {
                attention_scores<<<div_up(pairs, 256), 256>>>(x.scores.data(), x.qkv.data(), tokens_);
            });
            timers_.time("attention_softmax", [&] {
                attention_softmax<<<div_up(batch * heads * tokens_ * 32, 256), 256>>>(
                    x.weights.data(), x.scores.data(), batch * heads * tokens_, tokens_);
            });
            timers_.time("attention_values", [&] {
                attention_values<<<div_up(n, 256), 256>>>(x.values.data(), x.weights.data(), x.qkv.data(),
                                                          tokens_);
            });
            matmul(x.added.data(), x.values.data(), layout_.projw[l], layout_.projb[l], channels, channels);
            add(x.middle.data(), x.in.data(), x.added.data());
            norm(x.ln2.data(), x.mean2.data(), x.rstd2.data(), x.middle.data(), layout_.ln2w[l],
                 layout_.ln2b[l]);
            matmul(x.wide.data(), x.ln2.data(), layout_.fcw[l], layout_.fcb[l], channels, 4 * channels);
            timers_.time("gelu_forward", [&] {
                gelu_forward<<<std::min(div_up(wide, 256), 160), 256>>>(x.gelu.data(), x.wide.data(), wide);
            });
            matmul(x.added.data(), x.gelu.data(), layout_.fcprojw[l], layout_.fcprojb[l], 4 * channels,
                   channels);
            add(l + 1 < layers ? layers_[l + 1].in.data() : last_.in.data(), x.middle.data(), x.added.data());
        }
        norm(last_.ln1.data(), last_.mean1.data(), last_.rstd1.data(), last_.in.data(), layout_.lnfw,
             layout_.lnfb);
        timers_.time("matmul_forward", [&] {
            matmul_forward<false><<<dim3(div_up(vocabulary, tile), div_up(rows_, tile)), dim3(tile, tile)>>>(
                logits_.data(), last_.ln1.data(), parameter(layout_.wte), nullptr, rows_, channels,
                vocabulary);
        });
    }

    void backward(const int* ids) {
        const int pairs = static_cast<int>(square()), wide = 4 * rows_ * channels;
        CUDA_CHECK(cudaMemset(gradients_.data(), 0, layout_.total * sizeof(float)));
        CUDA_CHECK(cudaMemset(dresidual_.data(), 0, per_row(channels) * sizeof(float)));
        matmul_backward(dnorm_.data(), logits_.data(), last_.ln1.data(), layout_.wte, channels, vocabulary);
        norm_backward(dresidual_.data(), dnorm_.data(), last_.in.data(), last_.mean1.data(),
                      last_.rstd1.data(), layout_.lnfw, layout_.lnfb);
        for (int l = layers - 1; l >= 0; --l) {
            Layer& x = layers_[l];
            bias_backward(dresidual_.data(), layout_.fcprojb[l], channels);
            matmul_backward(dwide_.data(), dresidual_.data(), x.gelu.data(), layout_.fcprojw[l], 4 * channels,
                            channels);
            timers_.time("gelu_backward", [&] {
                gelu_backward<<<std::min(div_up(wide, 256), 160), 256>>>(dwide_.data(), x.wide.data(), wide);
            });
            bias_backward(dwide_.data(), layout_.fcb[l], 4 * channels);
            matmul_backward(dnorm_.data(), dwide_.data(), x.ln2.data(), layout_.fcw[l], channels,
                            4 * channels);
            norm_backward(dresidual_.data(), dnorm_.data(), x.middle.data(), x.mean2.data(), x.rstd2.data(),
                          layout_.ln2w[l], layout_.ln2b[l]);
            bias_backward(dresidual_.data(), layout_.projb[l], channels);
            matmul_backward(dnorm_.data(), dresidual_.data(), x.values.data(), layout_.projw[l], channels,
                            channels);
            timers_.time("attention_backward_weights", [&] {
                attention_backward_weights<<<div_up(pairs, 256), 256>>>(dscores_.data(), dnorm_.data(),
                                                                        x.qkv.data(), tokens_);
            });
            timers_.time("softmax_backward", [&] {
                softmax_backward<<<div_up(batch * heads * tokens_ * 32, 256), 256>>>(
                    dscores_.data(), x.weights.data(), batch * heads * tokens_, tokens_);
            });
            timers_.time("attention_backward_qkv", [&] {
                attention_backward_qkv<<<dim3(div_up(channels, 32), div_up(rows_, 8)), dim3(32, 8)>>>(
                    dwide_.data(), dscores_.data(), x.weights.data(), dnorm_.data(), x.qkv.data(), tokens_);
            });
            bias_backward(dwide_.data(), layout_.qkvb[l], 3 * channels);
            matmul_backward(dnorm_.data(), dwide_.data(), x.ln1.data(), layout_.qkvw[l], channels,
                            3 * channels);
            norm_backward(dresidual_.data(), dnorm_.data(), x.in.data(), x.mean1.data(), x.rstd1.data(),
                          layout_.ln1w[l], layout_.ln1b[l]);
        }
        timers_.time("encoder_backward_wte", [&] {
            encoder_backward_wte<<<dim3(div_up(channels, 32), div_up(vocabulary, 8)), dim3(32, 8)>>>(
                gradient(layout_.wte), dresidual_.data(), ids, rows_);
        });
        timers_.time("encoder_backward_wpe", [&] {
            encoder_backward_wpe<<<div_up(tokens_ * channels, 256), 256>>>(gradient(layout_.wpe),
                                                                           dresidual_.data(), tokens_);
        });
    }

    const Layout& layout_;
    int tokens_, rows_;
    sample::DeviceArray<float> parameters_, gradients_, first_, second_, logits_, losses_, loss_, sums_,
        norm_, dresidual_, dnorm_, dwide_, dscores_;
    std::deque<Layer> layers_;
    Layer last_{*this};
    sample::KernelTimers timers_;
};

int main(int argc, char** argv) {
    const sample::Options options = sample::parse_options(argc, argv, {128, 1024, 3, 10000});
    const int tokens = options.n, rows = batch * tokens;
    const Layout layout(tokens);
    std::vector<float> parameters = sample::uniform_array(layout.total, 1);
    for (float& p : parameters) p = (p - 0.5f) * 0.2f;
    // The weights of the norms are near one.
    const auto ones = [&](std::size_t begin) {
        for (int c = 0; c < channels; ++c) parameters[begin + c] += 1.0f;
    };
    for (int l = 0; l < layers; ++l) ones(layout.ln1w[l]), ones(layout.ln2w[l]);
    ones(layout.lnfw);
    // A text in which a token says much about the next one.
    std::vector<int> ids(rows), targets(rows);
    for (int row = 0; row < rows; ++row) {
        const auto text = [&](int at) {
            return (at * 7 + static_cast<int>(sample::mix(at) % 3)) % vocabulary;
        };
        ids[row] = text(row);
        targets[row] = text(row + 1);
    }
    sample::Outputs outputs(options.dump_path);

    sample::DeviceArray<int> d_ids(ids), d_targets(targets);
    Model model(layout, parameters, tokens);
    std::vector<float> losses, first_gradients;
    for (int step = 1; step <= options.steps; ++step) {
        losses.push_back(model.loss_and_gradients(d_ids.data(), d_targets.data()));
        if (step == 1) first_gradients = model.gradients();
        model.update(step);
    }
    model.print_times();
    outputs.add(losses);
    outputs.add(first_gradients);
    outputs.add(model.parameters());
    outputs.print();

    sample::Verifier verifier;
    const Reference reference(layout, ids, targets, tokens);
    std::vector<double> p(parameters.begin(), parameters.end());
    verifier.within("loss", 0, losses[0], reference.loss(p), 1e-5 * losses[0]);
    // Two of each tensor, as near to each other as the largest of the tensor allows.
    for (std::size_t tensor = 0; tensor < layout.begins.size(); ++tensor) {
        const std::size_t begin = layout.begins[tensor];
        const std::size_t end = tensor + 1 < layout.begins.size() ? layout.begins[tensor + 1] : layout.total;
        double largest = 0.0;
        for (std::size_t i = begin; i < end; ++i) largest = std::fmax(largest, std::fabs(first_gradients[i]));
        for (const std::size_t at : {begin, begin + sample::mix(tensor) % (end - begin)})
            verifier.within("gradient", at, first_gradients[at], reference.gradient(p, at),
                            1e-4 * largest + 1e-7);
    }
    if (options.steps >= 3) verifier.within("loss after training", 0, losses.back(), 0.0, 0.95 * losses[0]);
    return verifier.finish();
}
