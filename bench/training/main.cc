// bench_training: full training steps (forward, backward, global-norm clip, AdamW) of a BERT on random
// tokens. Prints one JSON line for each timed block; with --lockstep a block starts when a line arrives on
// standard input.
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "worker/nn/bert.h"
#include "worker/tensor/random.h"
#include "worker/train/optimizer.h"

namespace podium {
namespace {

struct Options {
  ModelSpec model;
  std::string precision = "fp32";
  int length = 128, batch = 32, masked = 20, threads = 2, blocks = 5, steps = 5;
  bool lockstep = false;
};

BertBatch random_batch(const Options& options) {
  Random random(1, 0);
  const auto draw = [&](int bound) {
    return static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(bound)));
  };
  BertBatch batch;
  batch.sequences = options.batch;
  batch.length = options.length;
  for (int s = 0; s < options.batch; ++s) {
    batch.valid_lengths.push_back(options.length);
    batch.next_sentence_labels.push_back(draw(2));
    for (int t = 0; t < options.length; ++t) {
      batch.input_ids.push_back(draw(options.model.vocab));
      batch.token_types.push_back(t > options.length / 2 ? 1 : 0);
    }
    for (int m = 0; m < options.masked; ++m) {
      batch.masked_positions.push_back(s * options.length + 1 + m * (options.length - 1) / options.masked);
      batch.masked_labels.push_back(draw(options.model.vocab));
    }
  }
  return batch;
}

class Bench {
 public:
  explicit Bench(const Options& options)
      : options_(options),
        context_{.threads = options.threads},
        model_(context_, options.model, options.length, precision(options.precision)),
        optimizer_(
            make_optimizer({.name = OptimizerKind::adamw, .lr = 1e-4}, model_.parameters(), options.threads)),
        batch_(random_batch(options)) {
    model_.parameters().initialise(1, options.model.initializer_range);
  }

  double step() {
    ParameterStore& parameters = model_.parameters();
    ++step_;
    const float mlm_scale = 1.0F / static_cast<float>(batch_.masked_labels.size());
    const float nsp_scale = 1.0F / static_cast<float>(batch_.sequences);
    parameters.clear_gradients(options_.threads);
    const BertResult result =
        model_.forward_backward(batch_, mlm_scale, nsp_scale, {.seed = 1, .step = step_, .sample_base = 0});
    const double norm = optimizer_->gradient_norm(parameters);
    optimizer_->update(parameters, step_, 1e-4, clip_factor(norm, 1.0));
    parameters.weights_changed();
    return result.mlm_loss_sum * mlm_scale + result.nsp_loss_sum * nsp_scale;
  }

  nlohmann::ordered_json timed_block() {
    const auto start = std::chrono::steady_clock::now();
    double loss = 0;
    for (int i = 0; i < options_.steps; ++i) loss = step();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const double flops =
        model_.training_flops(batch_.sequences, static_cast<std::int64_t>(batch_.masked_labels.size()));
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return {{"sequences_per_second", options_.steps * batch_.sequences / seconds},
            {"gflops", options_.steps * flops / seconds * 1e-9},
            {"loss", loss},
            {"peak_rss_bytes", std::int64_t{usage.ru_maxrss} * 1024}};
  }

 private:
  static Precision precision(const std::string& name) {
    if (name == "fp32") return Precision::fp32;
    if (name == "bf16") return Precision::bf16;
    throw std::invalid_argument("--precision is fp32 or bf16, not " + name);
  }

  Options options_;
  Context context_;
  BertForPretraining model_;
  std::unique_ptr<Optimizer> optimizer_;
  BertBatch batch_;
  std::int64_t step_ = 0;
};

Options parse(int argc, char** argv) {
  Options options;
  ModelSpec& model = options.model;
  model.layers = 4;
  model.hidden = 256;
  model.heads = 4;
  model.intermediate = 1024;
  model.vocab = 30528;
  model.max_positions = 512;
  CLI::App app("Training throughput of podium-worker's BERT on this machine's CPU.");
  app.add_option("--layers", model.layers);
  app.add_option("--hidden", model.hidden);
  app.add_option("--heads", model.heads);
  app.add_option("--intermediate", model.intermediate);
  app.add_option("--vocab", model.vocab);
  app.add_option("--dropout", model.dropout);
  app.add_option("--length", options.length);
  app.add_option("--batch", options.batch);
  app.add_option("--masked", options.masked, "positions to predict in each sequence");
  app.add_option("--precision", options.precision, "fp32 or bf16");
  app.add_option("--threads", options.threads);
  app.add_option("--blocks", options.blocks);
  app.add_option("--steps", options.steps, "in each timed block");
  app.add_flag("--lockstep", options.lockstep);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  model.attention_dropout = model.dropout;
  return options;
}

void print(const nlohmann::ordered_json& line) {
  std::printf("%s\n", line.dump().c_str());
  std::fflush(stdout);
}

}  // namespace
}  // namespace podium

int main(int argc, char** argv) try {
  const podium::Options options = podium::parse(argc, argv);
  podium::Bench bench(options);
  for (int i = 0; i < 3; ++i) bench.step();  // compiles the products and grows the arenas
  podium::print({{"ready", true}});
  for (int block = 0; block < options.blocks; ++block) {
    std::string line;
    if (options.lockstep && !std::getline(std::cin, line)) break;
    podium::print(bench.timed_block());
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "bench_training: %s\n", error.what());
  return 1;
}
