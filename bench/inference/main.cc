// bench_inference: a BERT's passes over random tokens, in lockstep with a peer. A line on standard input is a
// batch and a number of passes, "1x128 5", whose milliseconds, and those of all threads' processor time, are
// told as JSON; "peak" asks for the operations
// a second that the processor has for the model's type.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <ctime>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/inference/peak.h"
#include "worker/infer/bert_sessions.h"
#include "worker/infer/latency.h"
#include "worker/infer/random_model.h"

namespace podium {
namespace {

struct Options {
  int layers = 12, hidden = 768, heads = 12, threads = 2;
  std::string precision = "fp32";
};

constexpr int kCalibrationLength = 384;

void tell(const nlohmann::json& line) {
  std::puts(line.dump().c_str());
  std::fflush(stdout);
}

BertWeights weights_of(Context& context, const Options& options) {
  SourceModel model = random_source_model(bert_shape(options.layers, options.hidden, options.heads));
  const InferenceOptions inference{.precision = inference_precision_from(options.precision)};
  if (ops::is_quantised(product_type(inference.precision)))
    model = quantised_by_random_text(context, model, inference, kCalibrationLength);
  return make_bert_weights(context, model, inference);
}

nlohmann::json timed(const Context& context, BertSession& session, int passes) {
  std::vector<double> processor;
  std::vector<double> milliseconds;
  for (int i = 0; i < passes; ++i) {
    const std::clock_t before = std::clock();
    milliseconds.push_back(pass_milliseconds(context, session, 1).front());
    processor.push_back(1e3 * static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC);
  }
  return {{"milliseconds", milliseconds}, {"processor_milliseconds", processor}};
}

int run(const Options& options) {
  Context context{.threads = options.threads};
  BertWeights weights = weights_of(context, options);
  BertSessions sessions(context, weights);
  tell({{"ready", true}});
  for (std::string line; std::getline(std::cin, line);) {
    if (line == "peak") {
      tell({{"operations_per_second", peak_operations(weights.product, options.threads)}});
      continue;
    }
    SessionShape shape;
    int passes = 0;
    if (std::sscanf(line.c_str(), "%dx%d %d", &shape.sequences, &shape.length, &passes) != 3) return 2;
    BertSession& session = sessions.at(shape);
    session.set_inputs(random_batch(weights.spec, shape));
    tell(timed(context, session, passes));
  }
  return 0;
}

}  // namespace
}  // namespace podium

int main(int argc, char** argv) {
  CLI::App app("Passes of a BERT with random weights, in lockstep with a peer");
  podium::Options options;
  app.add_option("--layers", options.layers)->check(CLI::PositiveNumber);
  app.add_option("--hidden", options.hidden)->check(CLI::PositiveNumber);
  app.add_option("--heads", options.heads)->check(CLI::PositiveNumber);
  app.add_option("--precision", options.precision, "fp32, bf16, fp16, int8 or fp8");
  app.add_option("--threads", options.threads)->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  return podium::run(options);
}
