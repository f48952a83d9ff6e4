// podium-worker latency: how long BERT takes for one batch.
#include <spdlog/fmt/fmt.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "common/spec/defaults.h"
#include "worker/commands/commands.h"
#include "worker/commands/compute_arguments.h"
#include "worker/commands/latency_report.h"
#include "worker/commands/number_checks.h"
#include "worker/commands/output.h"
#include "worker/data/failure.h"
#include "worker/infer/random_model.h"
#include "worker/infer/result_check.h"

namespace podium {
namespace {

constexpr char kLatencyExamples[] = R"(
Examples:
  podium-worker latency bert-large --gpu --precision fp16           # batch 1, length 128
  podium-worker latency bert-base --gpu --precision int8 --sparse --length 384
  podium-worker latency model-int8 --gpu --batch 64 --json
  podium-worker latency bert-large --gpu --shape 1,8,64x128,384 --shape 1x512 --json    # an object a line
  podium-worker latency bert-large --gpu --precision int8 --check   # and compare what was computed with the CPU's

A preset's name stands for random weights, which int8 and fp8 take with the ranges of a random text: the time does not
depend on either. On a GPU a pass is one CUDA graph. Inputs lie in the device's memory; hidden states and the pooled output are computed; every pass is waited for.
Of one sequence of 128 tokens what others published of a model of that shape follows, with their hardware.)";

constexpr int kMostTokens = 1 << 22;  // of a batch; 2^13 sequences of 512

struct LatencyArguments {
  ModelArguments model;
  ComputeArguments compute;
  SessionShape shape;
  std::vector<std::string> shapes;  // "1,8x128"; empty: that one
  int repeats = 200;
  int warmup = 20;
  bool sparse = false;
  bool check = false;
  bool json = false;
};

std::optional<ModelSpec> preset_model(const std::string& name) {
  const ModelPreset* preset = find_preset(name);
  if (preset == nullptr || preset->family != "bert") return std::nullopt;
  ModelSpec spec = bert_shape(preset->layers, preset->hidden, preset->heads);
  spec.preset = name;
  return spec;
}

std::vector<SessionShape> shapes_of(const LatencyArguments& arguments, const ModelSpec& spec) {
  std::vector<SessionShape> shapes;
  for (const std::string& text : arguments.shapes)
    std::ranges::copy(shapes_from(text), std::back_inserter(shapes));
  if (shapes.empty()) shapes.push_back(arguments.shape);
  for (const SessionShape& shape : shapes) {
    if (shape.length > spec.max_positions)
      throw Failure(WorkerExit::bad_spec,
                    fmt::format("length {}: the model has {} positions; use --length {} or less",
                                shape.length, spec.max_positions, spec.max_positions));
    if (shape.sequences > kMostTokens / shape.length)
      throw Failure(WorkerExit::bad_spec,
                    fmt::format("a batch of {} x {} has more than {} tokens; use --batch {} or less",
                                shape.sequences, shape.length, kMostTokens, kMostTokens / shape.length));
  }
  return shapes;
}

// Of a batch's first and last sequence, to look at both ends of what the device wrote: of all of them the CPU
// would take too long.
struct Checked {
  InferenceBatch batch;
  SessionShape shape;
  std::map<int, SequenceResults> results;  // by sequence
};

Checked take_results(const Context& context, const BertSession& session, const InferenceBatch& batch) {
  Checked taken{batch, session.shape(), {}};
  for (const int sequence : {0, taken.shape.sequences - 1})
    taken.results[sequence] = results_of(context, session, sequence);
  return taken;
}

// With the CPU's, in the same precision. A line each; throws after the last where one is too far from it.
void check_results(const LatencyArguments& arguments, const SourceModel& model,
                   const InferenceOptions& options, const std::vector<Checked>& computed) {
  Compute cpu({.precision = arguments.compute.precision, .threads = arguments.compute.threads});
  BertWeights weights = make_bert_weights(cpu.context, model, options);
  const double tolerance = distance_tolerance(options.precision);
  // By length and sequence: of two batches of a length random_batch() begins the longer as the shorter.
  std::map<std::pair<int, int>, SequenceResults> expected;
  bool all_passed = true;
  for (const Checked& c : computed) {
    double error = 0;
    for (const auto& [sequence, found] : c.results) {
      const auto [place, is_new] = expected.try_emplace({c.shape.length, sequence});
      if (is_new) place->second = compute_alone(cpu.context, weights, c.batch, c.shape.length, sequence);
      error = std::max(error, relative_distance(found, place->second));
    }
    const bool passed = error <= tolerance;
    all_passed = all_passed && passed;
    const nlohmann::json line{{"batch", c.shape.sequences},
                              {"length", c.shape.length},
                              {"error", std::min(error, 1e300)},
                              {"tolerance", tolerance},
                              {"passed", passed}};
    std::puts(arguments.json
                  ? line.dump().c_str()
                  : fmt::format("batch {} x {}: {:.2g} of its norm from the CPU's results, at most {:.2g} {}",
                                c.shape.sequences, c.shape.length, error, tolerance,
                                passed ? "may be" : "should be: it is WRONG")
                        .c_str());
    flush_output();
  }
  if (!all_passed) throw std::runtime_error("latency --check: the results differ from the CPU's");
}

void run_latency(const LatencyArguments& arguments) {
  const std::string name = arguments.model.model.string();
  const std::optional<ModelSpec> preset = preset_model(name);
  if (!preset && !std::filesystem::exists(arguments.model.model))
    throw Failure(WorkerExit::bad_spec, fmt::format("{} is neither a folder nor a preset; the presets are {}",
                                                    name, preset_names("bert")));
  SourceModel model = preset ? random_source_model(*preset) : read_model(arguments.model);
  const std::vector<SessionShape> shapes = shapes_of(arguments, model.spec);
  const InferenceOptions options{.precision = precision_of(arguments.compute, model),
                                 .sparse = arguments.sparse};
  if (preset && ops::is_quantised(product_type(options.precision))) {
    Compute cpu({.precision = "fp32", .threads = arguments.compute.threads});
    const int longest = std::ranges::max(shapes, {}, &SessionShape::length).length;
    model = quantised_by_random_text(cpu.context, model, options, longest);
  }
  Compute compute(arguments.compute);
  compute.context.deterministic = false;  // products may be timed, and the fastest way chosen
  BertWeights weights = make_bert_weights(compute.context, model, options);
  const Device* const device = compute.device.device.get();
  MeasuredLatency measured{.model = name,
                           .device = device == nullptr
                                         ? fmt::format("CPU, {} threads", compute.context.threads)
                                         : device->description().name,
                           .precision = std::string(to_string(options.precision)),
                           .sparse = weights.layers.front().expand.weight.positions.address != nullptr,
                           .warmup = arguments.warmup,
                           .repeats = arguments.repeats};
  std::vector<PublishedRow> published;  // of one of the shapes
  if (!arguments.json) print_output(latency_heading(measured));
  std::vector<Checked> computed;
  for (const SessionShape& shape : shapes) {
    BertSession session(compute.context, weights, shape);
    const InferenceBatch batch = random_batch(model.spec, shape);
    session.set_inputs(batch);
    measured.shape = shape;
    measured.latency = measure_latency(compute.context, session, arguments.warmup, arguments.repeats);
    const std::vector<PublishedRow> of_shape = published_latencies(model.spec, shape);
    if (!of_shape.empty()) published = of_shape;
    print_output(arguments.json ? latency_json(measured, of_shape) : latency_row(measured));
    flush_output();
    if (arguments.check) computed.push_back(take_results(compute.context, session, batch));
  }
  if (!arguments.json) print_output(published_text(published));
  if (arguments.check) check_results(arguments, model, options, computed);
}

}  // namespace

void add_latency(CLI::App& app) {
  const auto arguments = std::make_shared<LatencyArguments>();
  CLI::App* command = app.add_subcommand("latency", "How long a BERT takes for one batch");
  command->footer(kLatencyExamples);
  add_model_arguments(*command, arguments->model);
  add_compute_arguments(*command, arguments->compute);
  command->add_option("--batch", arguments->shape.sequences, "Sequences")
      ->check(at_least(1))
      ->capture_default_str();
  command->add_option("--length", arguments->shape.length, "Tokens of each")
      ->check(at_least(1))
      ->capture_default_str();
  command->add_option("--shape", arguments->shapes,
                      "Instead, as often as wanted: BATCHxLENGTH, or 1,8,64x128,384");
  command->add_option("--repeats", arguments->repeats, "Passes that are timed")
      ->check(at_least(1))
      ->capture_default_str();
  command->add_option("--warmup", arguments->warmup, "Passes before them")
      ->check(at_least(0))
      ->capture_default_str();
  command->add_flag("--sparse", arguments->sparse, "Prune the encoder's products to 2:4");
  command->add_flag(
      "--check", arguments->check,
      "Compare the first and the last sequence's results with the CPU's; fail where they differ");
  command->add_flag("--json", arguments->json, "One JSON object a line");
  command->callback([arguments] { run_latency(*arguments); });
}

}  // namespace podium
