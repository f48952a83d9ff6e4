// bench_generate: GPT-2 small with random weights goes on with text, a token at a time, the likeliest each.
// Prints one JSON line for each timed block, which with --lockstep starts when a line arrives on standard
// input. The first line tells how many bytes of weights a step reads, and how many a second the same threads
// read from memory at best.
#include <omp.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "worker/generate/generation_session.h"
#include "worker/generate/sampling.h"

namespace podium {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::string precision = "fp32";
  int batch = 1, prompt = 128, tokens = 32, threads = 2;
  bool lockstep = false;  // else one block
};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// The best of several sums over more memory than the caches hold. Integers: a float's sum waits for the one
// before it and not for the memory.
double bytes_a_second(int threads) {
  constexpr std::size_t kCount = std::size_t{1} << 25;
  const std::vector<std::uint64_t> values(kCount, 1);
  double best = 0;
  std::uint64_t total = 0;
  for (int run = 0; run < 5; ++run) {
    std::uint64_t sum = 0;
    const auto start = Clock::now();
#pragma omp parallel for simd reduction(+ : sum) num_threads(threads)
    for (std::size_t i = 0; i < kCount; ++i) sum += values[i];
    best = std::max(best, static_cast<double>(kCount * sizeof(std::uint64_t)) / seconds_since(start));
    total += sum;
  }
  return total > 0 ? best : 0;
}

// What a step of few sequences reads of the products' weights.
std::size_t weight_bytes(const LanguageWeights& weights) {
  std::size_t bytes = weights.decoder.values.view().bytes();
  for (const DecoderLayer& layer : weights.layers)
    for (const DenseLayer* dense :
         {&layer.query_key_value, &layer.attention_output, &layer.expand, &layer.contract})
      bytes += dense->values.view().bytes();
  return bytes;
}

class GenerationBlock {
 public:
  GenerationBlock(Context& context, LanguageWeights& weights, const Options& options)
      : options_(options), session_(context, weights, {options.batch, options.prompt + options.tokens}) {
    for (int i = 0; i < options.prompt; ++i) prompt_.push_back(7919 * (i + 1) % session_.vocabulary());
  }

  nlohmann::ordered_json run() {
    std::vector<GenerationSession::Next> next;
    const auto start = Clock::now();
    for (int i = 0; i < options_.batch; ++i) {
      const auto begun = session_.begin(prompt_);
      next.push_back({begun->slot, likeliest(begun->logits)});
    }
    const double prefill = seconds_since(start);
    const auto read = Clock::now();
    for (int i = 0; i < options_.tokens; ++i) {
      const std::vector<float> logits = session_.extend(next);
      const auto vocabulary = static_cast<std::size_t>(session_.vocabulary());
      for (std::size_t s = 0; s < next.size(); ++s)
        next[s].token = likeliest(std::span(logits).subspan(s * vocabulary, vocabulary));
    }
    const double decode = seconds_since(read);
    for (const auto& [slot, token] : next) session_.end(slot);
    return {{"decode", options_.batch * options_.tokens / decode},
            {"prefill", options_.batch * options_.prompt / prefill}};
  }

 private:
  static std::int32_t likeliest(std::span<const float> logits) {
    return sample_token(logits, {.temperature = 0}, 0);
  }

  const Options& options_;
  GenerationSession session_;
  std::vector<std::int32_t> prompt_;
};

Options parse(int argc, char** argv) {
  Options options;
  CLI::App app("Generation with random weights.", "bench_generate");
  app.add_option("--precision", options.precision)->capture_default_str();
  app.add_option("--batch", options.batch)->capture_default_str();
  app.add_option("--prompt", options.prompt)->capture_default_str();
  app.add_option("--tokens", options.tokens)->capture_default_str();
  app.add_option("--threads", options.threads)->capture_default_str();
  app.add_flag("--lockstep", options.lockstep, "A block for every line on standard input");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  return options;
}

void run(const Options& options) {
  Context context{.threads = options.threads};
  const ModelSpec spec{.family = ModelFamily::gpt,
                       .layers = 12,
                       .hidden = 768,
                       .heads = 12,
                       .intermediate = 3072,
                       .vocab = 50257,
                       .max_positions = 1024};
  LanguageWeights weights =
      make_language_weights(context, random_source_model(spec), inference_precision_from(options.precision));
  GenerationBlock block(context, weights, options);
  block.run();
  const auto print = [](const nlohmann::ordered_json& line) {
    std::puts(line.dump().c_str());
    std::fflush(stdout);
  };
  print({{"weight_bytes", weight_bytes(weights)}, {"bytes_a_second", bytes_a_second(options.threads)}});
  if (!options.lockstep) return print(block.run());
  for (std::string line; std::getline(std::cin, line);) print(block.run());
}

}  // namespace
}  // namespace podium

int main(int argc, char** argv) { podium::run(podium::parse(argc, argv)); }
