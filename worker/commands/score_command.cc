// podium-worker score: exact match and F1 of predictions.json.
#include <spdlog/fmt/fmt.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "worker/commands/commands.h"
#include "worker/data/failure.h"
#include "worker/tasks/squad/squad_score.h"

namespace podium {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr char kScoreExamples[] = R"(
Examples:
  podium-worker score dev-v1.1.json predictions.json
  podium-worker score dev-v2.0.json predictions.json --null-odds null_odds.json --json

Scores as the official evaluate-v1.1.py or evaluate-v2.0.py does; --json prints what the script prints. The data say
which of the two: a file of version v2.0, or whose questions have "is_impossible", is scored by 2.0's rules.)";

constexpr std::size_t kMostNamed = 5;  // unanswered questions

struct ScoreArguments {
  fs::path data;
  fs::path predictions;
  fs::path null_odds;
  double null_threshold = 1.0;
  bool json = false;
};

void add_part(ordered_json& out, const std::string& prefix, const MeanScore& score) {
  out[prefix + "exact"] = score.exact;
  out[prefix + "f1"] = score.f1;
  out[prefix + "total"] = score.questions;
}

ordered_json official_form(const SquadScores& scores, bool version2) {
  ordered_json out;
  if (!version2) return {{"exact_match", scores.all.exact}, {"f1", scores.all.f1}};
  add_part(out, "", scores.all);
  if (scores.has_answer) add_part(out, "HasAns_", *scores.has_answer);
  if (scores.no_answer) add_part(out, "NoAns_", *scores.no_answer);
  if (const auto& best = scores.best) {
    out["best_exact"] = best->exact;
    out["best_exact_thresh"] = best->exact_threshold;
    out["best_f1"] = best->f1;
    out["best_f1_thresh"] = best->f1_threshold;
  }
  return out;
}

void print_scores(const SquadScores& scores) {
  const auto print = [](const char* name, const MeanScore& score) {
    fmt::print("{:<22} exact match {:8.4f}   F1 {:8.4f}   questions {}\n", name, score.exact, score.f1,
               score.questions);
  };
  print("all", scores.all);
  if (scores.has_answer) print("with an answer", *scores.has_answer);
  if (scores.no_answer) print("without an answer", *scores.no_answer);
  if (const auto& best = scores.best)
    fmt::print("{:<22} exact match {:8.4f} at {:.6g}   F1 {:8.4f} at {:.6g}\n", "best null thresholds",
               best->exact, best->exact_threshold, best->f1, best->f1_threshold);
}

void tell_unanswered(const SquadScores& scores, bool version2) {
  const std::size_t count = scores.unanswered.size();
  for (std::size_t i = 0; i < std::min(count, kMostNamed); ++i)
    fmt::print(stderr, "unanswered question {} {}\n", scores.unanswered[i],
               version2 ? "is left out" : "receives score 0");
  if (count > kMostNamed) fmt::print(stderr, "and {} more\n", count - kMostNamed);
}

void score(const ScoreArguments& arguments) {
  const SquadData data = read_squad(arguments.data);
  const auto by_id = read_squad_predictions(arguments.predictions);
  const SquadPredictions predictions(by_id.begin(), by_id.end());
  NullOdds odds{.threshold = arguments.null_threshold};
  const bool has_odds = !arguments.null_odds.empty();
  if (has_odds && !data.version2)
    refuse_spec("--null-odds is for SQuAD 2.0, and " + arguments.data.string() + " is of 1.1");
  if (std::isnan(arguments.null_threshold)) refuse_spec("--null-threshold is no number");
  if (has_odds) odds.by_id = read_squad_null_odds(arguments.null_odds);
  const SquadScores scores = data.version2 ? score_squad_v2(data, predictions, has_odds ? &odds : nullptr)
                                           : score_squad_v1(data, predictions);
  tell_unanswered(scores, data.version2);
  if (arguments.json)
    fmt::print("{}\n", official_form(scores, data.version2).dump(data.version2 ? 2 : -1));
  else
    print_scores(scores);
}

}  // namespace

void add_score(CLI::App& app) {
  const auto arguments = std::make_shared<ScoreArguments>();
  CLI::App* command = app.add_subcommand("score", "Score answers to SQuAD's questions");
  command->footer(kScoreExamples);
  command->add_option("data", arguments->data, "SQuAD's JSON with the true answers")->required();
  command
      ->add_option("predictions", arguments->predictions, "JSON object of an answer for each question's id")
      ->required();
  CLI::Option* odds = command->add_option("--null-odds", arguments->null_odds,
                                          "SQuAD 2.0: JSON object of the odds that a question has no answer");
  command
      ->add_option("--null-threshold", arguments->null_threshold, "Above these odds an answer counts as none")
      ->needs(odds)
      ->capture_default_str();
  command->add_flag("--json", arguments->json, "Print what the official script prints");
  command->callback([arguments] { score(*arguments); });
}

}  // namespace podium
