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

#include "bench/training/trainee.h"
#include "worker/ops/linear.h"

namespace podium {
namespace {

struct Options : TraineeOptions {
  int blocks = 5, steps = 5;
  bool lockstep = false;
  bool peak = false;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

nlohmann::ordered_json timed_block(const Options& options, Trainee& trainee) {
  const auto start = std::chrono::steady_clock::now();
  double loss = 0;
  for (int i = 0; i < options.steps; ++i) loss = trainee.step();
  const double seconds = seconds_since(start);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return {{"sequences_per_second", options.steps * options.batch / seconds},
          {"loss", loss},
          {"peak_rss_bytes", std::int64_t{usage.ru_maxrss} * 1024}};
}

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
  CLI::App app("Training throughput of podium-worker's models on this machine's CPU or GPU.");
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
  app.add_flag("--gpu", options.gpu);
  app.add_flag("--timed-products", options.timed_products,
               "on a GPU: each product by the fastest of cuBLASLt's algorithms, as training.timed_products");
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
  podium::Trainee trainee(options);
  for (int i = 0; i < 3; ++i) trainee.step();  // compiles the products and grows the arenas
  podium::print({{"ready", true}, {"flops_per_step", trainee.flops()}});
  for (int block = 0; block < options.blocks; ++block) {
    std::string line;
    if (options.lockstep && !std::getline(std::cin, line)) break;
    podium::print(podium::timed_block(options, trainee));
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "bench_training: %s\n", error.what());
  return 1;
}
