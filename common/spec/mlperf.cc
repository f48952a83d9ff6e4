#include "common/spec/mlperf.h"

#include <spdlog/fmt/fmt.h>

#include <array>
#include <optional>
#include <string>

#include "common/model/mlperf_spec.h"

namespace podium {
namespace {

using mlperf::Benchmark;
using nlohmann::json;

// What Podium's specs and metrics call what a benchmark demands.
struct Demands {
  const char* family;
  const char* task;
  const char* optimizer;
  const char* metric;
  std::int64_t sequences;  // of held-out text, where the spec names no number
};

constexpr std::int64_t kAllHeldOut = 1'000'000'000;  // the most that the schema allows

Demands demands_of(Benchmark benchmark) {
  return benchmark == Benchmark::bert ? Demands{"bert", "pretrain", "lamb", "eval/mlm_accuracy", 10'000}
                                      : Demands{"gpt", "lm", "adamw", "eval/loss", kAllHeldOut};
}

std::optional<Benchmark> benchmark_in(const json& filled) {
  const json name = filled["mlperf"].value("benchmark", json());
  return name.is_string() ? mlperf::find_benchmark(name.get<std::string>()) : std::nullopt;
}

json official_target(Benchmark benchmark) {
  const mlperf::Quality quality = official_quality(benchmark);
  return {{"metric", demands_of(benchmark).metric}, {quality.more ? "at_least" : "at_most", quality.target}};
}

std::optional<std::int64_t> global_batch(const json& filled) {
  const auto batch = Facts(filled).integer("/training/batch/global");
  return batch && *batch > 0 ? batch : std::nullopt;
}

void check_word(const Facts& facts, const char* at, const char* demanded, const std::string& benchmark,
                Problems& problems) {
  if (const auto word = facts.text(at); word && *word != demanded)
    problems.add("/mlperf/benchmark", fmt::format("MLPerf's benchmark {} needs {} {}, and this spec has {}",
                                                  benchmark, dotted(at), demanded, *word));
}

void check_interval(const Facts& facts, Benchmark benchmark, Problems& problems) {
  const auto batch = global_batch(facts.all());
  const auto every = facts.steps("/evaluate/every");
  if (!batch || !every || !facts.has("/evaluate/data")) return;
  const std::int64_t steps = mlperf::evaluation_steps(benchmark, *batch);
  if (const auto all = facts.integer("/training/schedule/steps"); all && *all < steps)
    problems.add(
        "/training/schedule/steps",
        fmt::format("MLPerf's benchmark {} is evaluated every {} steps of {} sequences, and a training "
                    "of {} never would be: write {} or more, or a larger training.batch.global",
                    to_string(benchmark), steps, *batch, *all, steps));
  if (*every != steps)
    problems.add(
        "/evaluate/every",
        fmt::format("MLPerf's benchmark {} is evaluated every {} sequences, which are {} steps of {}: leave "
                    "evaluate.every out, or write {} steps",
                    to_string(benchmark), mlperf::evaluation_interval(benchmark, *batch), steps, *batch,
                    steps));
}

// What the rules give for GPT-3 (common/mlperf/rules.cc), where Podium's specs have it.
struct Given {
  const char* at;
  double value;
};

constexpr std::array kGivenOfGpt3{
    Given{"/training/sequence_length", 2048}, Given{"/training/optimizer/beta1", 0.9},
    Given{"/training/optimizer/beta2", 0.95}, Given{"/training/optimizer/epsilon", 1e-8},
    Given{"/training/optimizer/clip", 1.0},
};

constexpr const char* kOpen = ", or set mlperf.division to open";

void check_hyperparameters(const Facts& facts, Problems& problems) {
  for (const Given& given : kGivenOfGpt3)
    if (const auto value = facts.number(given.at); value && *value != given.value)
      problems.add(given.at, fmt::format("MLPerf's closed division trains gpt3 with {} {}: write that{}",
                                         dotted(given.at), given.value, kOpen));
  if (const auto rate = facts.number("/training/optimizer/lr"); rate && *rate != 2e-5 && *rate != 3e-5)
    problems.add(
        "/training/optimizer/lr",
        fmt::format("MLPerf's closed division trains gpt3 with training.optimizer.lr 2e-05 or 3e-05: write "
                    "one of them{}",
                    kOpen));
  if (const auto decay = facts.text("/training/schedule/decay"); decay && *decay != "cosine")
    problems.add(
        "/training/schedule/decay",
        fmt::format("MLPerf's closed division trains gpt3 with training.schedule.decay cosine: write that{}",
                    kOpen));
}

// What a spec of the closed division may not choose.
void check_closed(const Facts& facts, Benchmark benchmark, Problems& problems) {
  if (facts.text("/mlperf/division") != to_string(mlperf::Division::closed)) return;
  const mlperf::Quality quality = official_quality(benchmark);
  const Demands demands = demands_of(benchmark);
  const char* const bound = quality.more ? "at_least" : "at_most";
  if (facts.text("/target/metric") == demands.metric &&
      facts.number(std::string("/target/") + bound) != quality.target)
    problems.add("/target", fmt::format("MLPerf's closed division trains {} to {} {} {}: leave target out{}",
                                        to_string(benchmark), demands.metric, bound, quality.target, kOpen));
  if (const auto sequences = facts.integer("/evaluate/sequences");
      sequences && *sequences != demands.sequences)
    problems.add(
        "/evaluate/sequences",
        fmt::format("MLPerf's closed division evaluates {} on {} held-out sequences: leave "
                    "evaluate.sequences out{}",
                    to_string(benchmark),
                    demands.sequences == kAllHeldOut ? "all" : std::to_string(demands.sequences), kOpen));
  if (benchmark == Benchmark::gpt3) check_hyperparameters(facts, problems);
}

}  // namespace

void fill_mlperf(json& filled) {
  const json defaults = to_json(MlperfSpec{});
  for (const auto& [key, value] : defaults.items())
    if (key != "benchmark" && !filled["mlperf"].contains(key)) filled["mlperf"][key] = value;
  const auto benchmark = benchmark_in(filled);
  const bool fits = benchmark && Facts(filled).text("/training/task") == demands_of(*benchmark).task;
  if (fits && !filled.contains("target")) filled["target"] = official_target(*benchmark);
  if (!filled.contains("evaluate") || !filled["evaluate"].is_object()) return;
  json& evaluate = filled["evaluate"];
  if (benchmark && !evaluate.contains("sequences")) evaluate["sequences"] = demands_of(*benchmark).sequences;
  if (evaluate.contains("every") || !evaluate.contains("data")) return;
  const auto batch = global_batch(filled);
  if (benchmark && batch)
    evaluate["every"] = fmt::format("{} steps", mlperf::evaluation_steps(*benchmark, *batch));
  else
    evaluate["every"] = nullptr;  // what it follows from is refused, and it is not missed besides
}

void check_mlperf(const Facts& facts, Problems& problems) {
  if (!facts.has("/mlperf") || !facts.all()["mlperf"].is_object() || facts.has("/command")) return;
  const auto benchmark = benchmark_in(facts.all());
  if (!benchmark) return;
  const std::string name(to_string(*benchmark));
  const Demands demands = demands_of(*benchmark);
  check_word(facts, "/model/family", demands.family, name, problems);
  check_word(facts, "/training/task", demands.task, name, problems);
  check_word(facts, "/training/optimizer/name", demands.optimizer, name, problems);
  if (const auto metric = facts.text("/target/metric"); metric && *metric != demands.metric)
    problems.add("/target/metric",
                 fmt::format("MLPerf's benchmark {} is measured by {}: only its bound is yours to choose",
                             name, demands.metric));
  if (!facts.has("/evaluate/data"))
    problems.add_missing("/evaluate/data",
                         "mlperf needs held-out text: add \"evaluate: {data: heldout.txt}\"");
  check_interval(facts, *benchmark, problems);
  check_closed(facts, *benchmark, problems);
  if (facts.has("/resources/devices/min") || facts.has("/resources/devices/max"))
    problems.add("/resources/devices",
                 "MLPerf measures a system of one size; write one number under resources.devices");
  if (facts.has("/training/phases"))
    problems.add_key("/training/phases",
                     "MLPerf measures a training of one phase; leave training.phases out");
  if (facts.has("/resume"))
    problems.add_key(
        "/resume",
        "a run that MLPerf measures begins at its first step; leave resume out, or begin with weights by "
        "model.init");
}

}  // namespace podium
