// bench_training: full training steps (forward, backward, global-norm clip, AdamW) of a BERT or GPT on random
// tokens. Prints one JSON line for each timed block; with --lockstep a block starts when a line arrives on
// standard input. With --peak it times one large product instead: what the machine can do at best.
#include <omp.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "worker/comm/single_communicator.h"
#include "worker/nn/model.h"
#include "worker/ops/linear.h"
#include "worker/tensor/random.h"
#include "worker/train/engine.h"
#include "worker/train/optimizer.h"

namespace podium {
namespace {

struct Options {
  ModelSpec model;
  Precision precision = Precision::fp32;
  int length = 128, batch = 32, masked = 20, threads = 2, blocks = 5, steps = 5;
  bool lockstep = false;
  bool peak = false;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// BERT predicts `masked` tokens spread over each sequence, GPT every next one.
MicroBatch random_batch(const Options& options) {
  Random random(1, 0);
  const auto draw = [&](int bound) {
    return static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(bound)));
  };
  const bool bert = options.model.family == ModelFamily::bert;
  const int scored = bert ? options.masked : options.length - 1;
  MicroBatch batch;
  batch.sequences = options.batch;
  batch.length = options.length;
  for (int s = 0; s < options.batch; ++s) {
    batch.valid_lengths.push_back(options.length);
    if (bert) batch.next_sentence_labels.push_back(draw(2));
    for (int t = 0; t < options.length; ++t) {
      batch.input_ids.push_back(draw(options.model.vocab));
      if (bert) batch.token_types.push_back(t > options.length / 2 ? 1 : 0);
    }
    for (int i = 0; i < scored; ++i) {
      const int position = bert ? 1 + i * (options.length - 1) / scored : i;
      batch.scored_positions.push_back(s * options.length + position);
      batch.labels.push_back(bert ? draw(options.model.vocab)
                                  : batch.input_ids[static_cast<std::size_t>(s * options.length + i + 1)]);
    }
  }
  return batch;
}

class Bench {
 public:
  explicit Bench(const Options& options)
      : options_(options),
        context_{.threads = options.threads},
        groups_(make_groups(world_, {})),
        model_(make_model(context_, options.model, {.precision = options.precision}, groups_)),
        engine_(context_, *model_, groups_),
        optimizer_(make_optimizer({.name = OptimizerKind::adamw, .lr = 1e-4}, model_->parameters(),
                                  options.threads)),
        batch_(random_batch(options)) {
    model_->parameters().initialise(1, options.model.initializer_range);
  }

  double flops() const { return model_->training_flops(batch_); }

  double step() {
    ParameterStore& parameters = model_->parameters();
    ++step_;
    const LossScales scales{.language = 1.0F / static_cast<float>(batch_.labels.size()),
                            .next_sentence = 1.0F / static_cast<float>(batch_.sequences)};
    const LossSums losses =
        engine_.train({&batch_, 1}, scales, {.seed = 1, .step = step_}, [](std::int64_t, std::int64_t) {});
    const double norm = optimizer_->gradient_norm(parameters);
    optimizer_->update(parameters, step_, 1e-4, clip_factor(norm, 1.0));
    parameters.weights_changed();
    return losses.language * scales.language + losses.next_sentence * scales.next_sentence;
  }

  nlohmann::ordered_json timed_block() {
    const auto start = std::chrono::steady_clock::now();
    double loss = 0;
    for (int i = 0; i < options_.steps; ++i) loss = step();
    const double seconds = seconds_since(start);
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return {{"sequences_per_second", options_.steps * options_.batch / seconds},
            {"loss", loss},
            {"peak_rss_bytes", std::int64_t{usage.ru_maxrss} * 1024}};
  }

 private:
  Options options_;
  Context context_;
  SingleCommunicator world_;
  ParallelGroups groups_;
  std::unique_ptr<Model> model_;
  Engine engine_;
  std::unique_ptr<Optimizer> optimizer_;
  MicroBatch batch_;
  std::int64_t step_ = 0;
};

// The best rate of several runs of one square product, weights in the layout the library likes.
double peak_gflops(const Options& options) {
  constexpr std::int64_t kSide = 2048;
  constexpr double kFlops = 2.0 * kSide * kSide * kSide;
  Context context{.threads = options.threads};
  const DType dtype = options.precision == Precision::fp32 ? DType::f32 : DType::bf16;
  Tensor x(dtype, {kSide, kSide}), y(dtype, {kSide, kSide});
  const Tensor master(DType::f32, {kSide, kSide});
  ops::LinearWeight weight{.master = master.view(), .generation = 1};
  ops::linear_forward(context, x.view(), weight, {}, y.view());
  double best = 0;
  for (int i = 0; i < options.blocks * options.steps; ++i) {
    const auto start = std::chrono::steady_clock::now();
    ops::linear_forward(context, x.view(), weight, {}, y.view());
    best = std::max(best, kFlops / seconds_since(start) * 1e-9);
  }
  return best;
}

template <class Value>
void add_choice(CLI::App& app, const std::string& name, const std::map<std::string, Value>& choices,
                Value& value) {
  app.add_option_function<std::string>(name, [&](const std::string& word) { value = choices.at(word); })
      ->check(CLI::IsMember(choices));
}

Options parse(int argc, char** argv) {
  Options options;
  ModelSpec& model = options.model;
  model.layers = 4;
  model.hidden = 256;
  model.heads = 4;
  model.intermediate = 1024;
  model.vocab = 30528;
  model.max_positions = 512;
  const std::map<std::string, ModelFamily> families = {{"bert", ModelFamily::bert},
                                                       {"gpt", ModelFamily::gpt}};
  const std::map<std::string, Precision> precisions = {{"fp32", Precision::fp32}, {"bf16", Precision::bf16}};
  CLI::App app("Training throughput of podium-worker's models on this machine's CPU.");
  add_choice(app, "--family", families, model.family);
  add_choice(app, "--precision", precisions, options.precision);
  app.add_option("--layers", model.layers);
  app.add_option("--hidden", model.hidden);
  app.add_option("--heads", model.heads);
  app.add_option("--intermediate", model.intermediate);
  app.add_option("--vocab", model.vocab);
  app.add_option("--positions", model.max_positions);
  app.add_option("--dropout", model.dropout);
  app.add_option("--length", options.length);
  app.add_option("--batch", options.batch);
  app.add_option("--masked", options.masked, "positions that BERT predicts in each sequence");
  app.add_option("--threads", options.threads);
  app.add_option("--blocks", options.blocks);
  app.add_option("--steps", options.steps, "in each timed block");
  app.add_flag("--lockstep", options.lockstep);
  app.add_flag("--peak", options.peak, "time one large product");
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
  omp_set_num_threads(options.threads);
  if (options.peak) {
    podium::print({{"gflops", podium::peak_gflops(options)}});
    return 0;
  }
  podium::Bench bench(options);
  for (int i = 0; i < 3; ++i) bench.step();  // compiles the products and grows the arenas
  podium::print({{"ready", true}, {"flops_per_step", bench.flops()}});
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
