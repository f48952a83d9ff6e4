#include "common/spec/mlperf.h"

#include <spdlog/fmt/fmt.h>

#include <optional>

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
  if (*every != steps)
    problems.add(
        "/evaluate/every",
        fmt::format("MLPerf's benchmark {} is evaluated every {} sequences, which are {} steps of {}: leave "
                    "evaluate.every out, or write {} steps",
                    to_string(benchmark), mlperf::evaluation_interval(benchmark, *batch), steps, *batch,
                    steps));
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
