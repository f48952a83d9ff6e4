#include "cli/mlperf_text.h"

#include <spdlog/fmt/fmt.h>

#include <cmath>

#include "cli/humanise.h"
#include "cli/table.h"

namespace podium::cli {
namespace {

using mlperf::Run;
using mlperf::Score;
using nlohmann::json;

template <class Word>
json word_json(const std::optional<Word>& word) {
  return word ? json(mlperf::to_string(*word)) : json();
}

std::string in_minutes(double seconds) { return fmt::format("{:.3f} min", seconds / 60); }

// Why a run is not among those that are averaged; "" where it is.
std::string left_out(const Score& score, std::size_t run) {
  if (!score.runs[run].converged) return "did not converge";
  if (!score.seconds || score.is_counted(run)) return "";
  return run == 0 ? "left out: the fastest" : "left out: the slowest";
}

std::string title_of(const Score& score, mlperf::Round round) {
  const mlperf::Measured& of = score.of;
  return fmt::format("{}, {} division, round {}: {}, {}, {} device{}, global batch {}\n",
                     to_string(of.benchmark), to_string(of.division), to_string(round), of.organisation,
                     of.platform, human_count(of.devices), of.devices == 1 ? "" : "s",
                     human_count(of.global_batch));
}

// The time that is published: of one run its own.
std::optional<double> published_seconds(const Score& score) {
  if (score.seconds) return score.seconds;
  if (score.runs.size() == 1 && score.runs[0].converged) return score.runs[0].seconds;
  return std::nullopt;
}

std::string what_of(mlperf::Benchmark benchmark, mlperf::Round round, std::int64_t batch) {
  const double target = quality_of(benchmark, round, static_cast<double>(batch)).target;
  return benchmark == mlperf::Benchmark::bert ? fmt::format("BERT-Large to {:g} masked-LM accuracy", target)
                                              : fmt::format("GPT-3 175B to {:g} log perplexity", target);
}

}  // namespace

json verdict_json(const NamedLog& named, mlperf::Round round) {
  json findings = json::array();
  if (named.log.is_foreign())
    findings.push_back({{"line", nullptr},
                        {"rule", "line"},
                        {"message", "no line has the token :::MLLOG: this is no log of MLPerf Training"}});
  else
    for (const mlperf::Finding& each : check(named.log, round))
      findings.push_back({{"line", each.line == 0 ? json() : json(each.line)},
                          {"rule", each.rule},
                          {"message", each.message}});
  return {{"file", named.file},
          {"round", to_string(round)},
          {"benchmark", word_json(benchmark_of(named.log))},
          {"division", word_json(division_of(named.log))},
          {"holds", findings.empty()},
          {"findings", std::move(findings)}};
}

json without_outcome(json verdict) {
  json kept = json::array();
  for (const json& each : verdict.at("findings"))
    if (!mlperf::is_of_outcome(each.at("rule").get<std::string>())) kept.push_back(each);
  verdict["holds"] = kept.empty();
  verdict["findings"] = std::move(kept);
  return verdict;
}

std::string verdict_text(const json& verdict) {
  const std::string file = verdict.at("file"), round = verdict.at("round");
  if (verdict.at("holds"))
    return fmt::format("{} holds to the rules of round {} for {}, {} division\n", file, round,
                       verdict.at("benchmark").get<std::string>(), verdict.at("division").get<std::string>());
  std::string text;
  for (const json& finding : verdict.at("findings"))
    text += fmt::format("{}{}: {}: {}\n", file,
                        finding.at("line").is_null() ? "" : ":" + finding.at("line").dump(),
                        finding.at("rule").get<std::string>(), finding.at("message").get<std::string>());
  const std::size_t count = verdict.at("findings").size();
  return text + fmt::format("{}: {} finding{} by the rules of round {}\n", file, count, count == 1 ? "" : "s",
                            round);
}

json to_json(const Score& score, mlperf::Round round) {
  json runs = json::array();
  for (std::size_t i = 0; i < score.runs.size(); ++i) {
    const Run& run = score.runs[i];
    runs.push_back({{"file", run.file},
                    {"seconds", run.seconds},
                    {"converged", run.converged},
                    {"counted", score.is_counted(i)},
                    {"quality", run.quality},
                    {"samples", run.samples}});
  }
  const mlperf::Measured& of = score.of;
  return {{"benchmark", to_string(of.benchmark)},
          {"division", to_string(of.division)},
          {"round", to_string(round)},
          {"organisation", of.organisation},
          {"platform", of.platform},
          {"devices", of.devices},
          {"global_batch", of.global_batch},
          {"seconds", score.seconds ? json(*score.seconds) : json()},
          {"valid", score.reasons.empty()},
          {"reasons", score.reasons},
          {"runs", std::move(runs)}};
}

std::string score_text(const Score& score, mlperf::Round round, const Terminal& terminal) {
  Table table({{"RUN", false, true, 12}, {"TIME", true}, {"QUALITY", true}, {"SAMPLES", true}, {""}});
  for (std::size_t i = 0; i < score.runs.size(); ++i) {
    const Run& run = score.runs[i];
    table.add({{run.file},
               {in_minutes(run.seconds)},
               {fmt::format("{:.5f}", run.quality)},
               {human_count(static_cast<std::int64_t>(run.samples))},
               {left_out(score, i), Colour::dim}});
  }
  std::string text = title_of(score, round) + table.render(terminal);
  text += score.seconds ? fmt::format("result: {}\n", in_minutes(*score.seconds)) : "result: none\n";
  for (const std::string& reason : score.reasons)
    text += fmt::format("  not as MLPerf takes it: {}\n", reason);
  return text;
}

Result<json> published_row(const Score& score, mlperf::Round round) {
  const mlperf::Measured& of = score.of;
  const auto seconds = published_seconds(score);
  if (!seconds)
    return Error{
        ErrorCode::invalid,
        fmt::format("{} run{} of {} on {} come{} to no time: give one that converged, or three and more of "
                    "which one at most did not",
                    score.runs.size(), score.runs.size() == 1 ? "" : "s", to_string(of.benchmark),
                    of.platform, score.runs.size() == 1 ? "s" : "")};
  json row{{"benchmark", fmt::format("mlperf-{}", to_string(of.benchmark))},
           {"what", what_of(of.benchmark, round, of.global_batch)},
           {"hardware", of.platform},
           {"devices", of.devices},
           {"value", std::round(*seconds / 60 * 1000) / 1000},
           {"unit", "min"},
           {"runs", score.runs.size()},
           {"source", fmt::format("MLPerf Training v{}, {}, {} division", to_string(round), of.organisation,
                                  to_string(of.division))},
           {"url", "https://github.com/mlcommons/training_results_v" + to_string(round)},
           {"date", traits_of(round).published}};
  if (of.global_batch > 0) row["batch"] = of.global_batch;
  return row;
}

}  // namespace podium::cli
