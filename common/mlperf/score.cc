#include "common/mlperf/score.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace podium::mlperf {
namespace {

// The line of a key that stands once; nothing, and an error, for another number of them.
const Line* one_line(const Log& log, const char* key, const std::string& file, Errors& errors) {
  const auto lines = log.all(key);
  if (lines.size() == 1) return lines.front();
  errors.push_back({ErrorCode::invalid,
                    fmt::format("there {} {}, so the log has no time to train",
                                lines.empty() ? "is no" : "is more than one", key),
                    file});
  return nullptr;
}

std::string text_of(const Log& log, const char* key) {
  const Line* const line = log.first(key);
  return line != nullptr && line->value.is_string() ? line->value.get<std::string>() : "";
}

void take_quality(const Log& log, Round round, Run& run) {
  const Line* evaluation = reaching_evaluation(log, run.of.benchmark, round);
  run.converged = run.converged && evaluation != nullptr;
  const auto all = log.all("eval_accuracy");
  if (evaluation == nullptr && !all.empty()) evaluation = all.back();
  if (evaluation == nullptr) return;
  if (evaluation->value.is_number()) run.quality = evaluation->value.get<double>();
  run.samples =
      evaluation->number_in("samples_count").value_or(evaluation->number_in("epoch_num").value_or(0));
}

// "run.txt breaks rules of the round: init-time, status/one"
std::string broken_rules(const Run& run) {
  std::set<std::string> rules;
  for (const Finding& each : run.findings) rules.insert(each.rule);
  return fmt::format("{} breaks rules of the round: {}", run.file, fmt::join(rules, ", "));
}

Score score_of(const Measured& of, std::vector<Run> runs) {
  Score score{of, std::move(runs), {}, {}};
  std::ranges::stable_sort(score.runs, {},
                           [](const Run& run) { return std::tuple(!run.converged, run.seconds); });
  const auto count = static_cast<std::int64_t>(score.runs.size());
  const auto failed = std::ranges::count(score.runs, false, &Run::converged);
  const int demanded = runs_of_result(of.benchmark);
  if (count != demanded)
    score.reasons.push_back(fmt::format("a result of {} takes {} runs, and this has {}",
                                        to_string(of.benchmark), demanded, count));
  if (failed > 1)
    score.reasons.push_back(fmt::format("{} runs did not converge, and one may at most", failed));
  for (const Run& run : score.runs)
    if (!run.findings.empty()) score.reasons.push_back(broken_rules(run));
  if (count < 3 || failed > 1) return score;
  double sum = 0;
  for (std::int64_t i = 1; i + 1 < count; ++i) sum += score.runs[static_cast<std::size_t>(i)].seconds;
  score.seconds = sum / static_cast<double>(count - 2);
  return score;
}

}  // namespace

Result<Run> run_of(const Log& log, const std::string& file, Round round) {
  Errors errors;
  const Line* const start = one_line(log, "run_start", file, errors);
  const Line* const stop = one_line(log, "run_stop", file, errors);
  const auto benchmark = benchmark_of(log);
  if (!benchmark)
    errors.push_back({ErrorCode::invalid,
                      "submission_benchmark is neither bert nor gpt3, the benchmarks that are scored here",
                      file});
  if (start != nullptr && stop != nullptr && stop->time_ms < start->time_ms)
    errors.push_back({ErrorCode::invalid, "run_stop has an earlier time than run_start", file});
  if (!errors.empty()) return errors;
  Run run;
  run.file = file;
  run.of = {*benchmark,
            division_of(log).value_or(Division::closed),
            text_of(log, "submission_org"),
            text_of(log, "submission_platform"),
            0,
            static_cast<std::int64_t>(log.all("init_start").size())};
  if (const Line* const batch = log.first("global_batch_size");
      batch != nullptr && batch->value.is_number_integer())
    run.of.global_batch = batch->value.get<std::int64_t>();
  run.seconds = static_cast<double>(stop->time_ms - start->time_ms) / 1000;
  run.converged = stop->metadata.value("status", nlohmann::json()) == "success";
  take_quality(log, round, run);
  run.findings = check(log, round);
  std::erase_if(run.findings, [](const Finding& each) { return is_of_outcome(each.rule); });
  return run;
}

std::vector<Score> scores_of(std::vector<Run> runs) {
  std::map<Measured, std::vector<Run>> kinds;
  for (Run& run : runs) kinds[run.of].push_back(std::move(run));
  std::vector<Score> scores;
  for (auto& [of, each] : kinds) scores.push_back(score_of(of, std::move(each)));
  return scores;
}

}  // namespace podium::mlperf
