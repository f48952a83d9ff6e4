// podium metrics and podium series: the numbers a job reported.
#include <spdlog/fmt/fmt.h>

#include <memory>
#include <vector>

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/fields.h"
#include "cli/humanise.h"
#include "cli/job_number.h"
#include "cli/print.h"
#include "cli/table.h"

namespace podium::cli {
namespace {

using nlohmann::json;

struct SeriesOptions {
  std::int64_t job = 0;
  std::vector<std::string> keys;
  int points = 1000;
};

std::string metrics_table(const json& metrics) {
  Table table({{"METRIC", false, true},
               {"POINTS", true},
               {"LAST STEP", true},
               {"LAST", true},
               {"MIN", true},
               {"MAX", true}});
  for (const json& metric : metrics)
    table.add({{text_field(metric, "key")},
               {human_count(integer_field(metric, "count"))},
               {human_count(integer_field(metric, "last_step"))},
               {human_value(field(metric, "last"))},
               {human_value(field(metric, "min"))},
               {human_value(field(metric, "max"))}});
  return table.empty() ? "No metrics yet.\n" : table.render(detect_terminal());
}

// To those who look, apart from what they look at.
void warn_of_lost_points(const json& metrics) {
  for (const json& metric : metrics)
    if (const std::int64_t lost = integer_field(metric, "lost_points"); lost > 0)
      fmt::print(stderr,
                 "warning: {} points of {} are lost, because the coordinator's database was damaged; "
                 "restore a backup of its home to get them back\n",
                 human_count(lost), printable(text_field(metric, "key")));
}

// Tab-separated, for gnuplot and spreadsheets: key, step, time in ms, value.
std::string series_text(const json& reply) {
  std::string text;
  for (const json& series : reply.at("series"))
    for (const json& point : series.at("points"))
      text += fmt::format("{}\t{}\t{}\t{}\n", series.at("key").get<std::string>(), point.at(0).dump(),
                          point.at(1).dump(),
                          point.at(2).is_string() ? point.at(2).get<std::string>() : point.at(2).dump());
  return text;
}

void run_metrics(std::int64_t id, const Session& session) {
  const json reply = Client(session).get(fmt::format("/jobs/{}/metrics", id));
  print(session.json ? reply.dump() + "\n" : metrics_table(reply.at("metrics")));
  warn_of_lost_points(reply.at("metrics"));
}

void run_series(const SeriesOptions& options, const Session& session) {
  Query query{{"points", std::to_string(options.points)}};
  for (const std::string& key : options.keys) query.emplace_back("key", key);
  const json reply = Client(session).get(fmt::format("/jobs/{}/series", options.job), query);
  print(session.json ? reply.dump() + "\n" : series_text(reply));
  warn_of_lost_points(reply.at("series"));
}

}  // namespace

void add_metrics(CLI::App& app, Session& session) {
  const auto id = std::make_shared<std::int64_t>();
  CLI::App* command = app.add_subcommand("metrics", "List a job's metrics with their last value and range");
  add_job(*command, *id);
  command->footer("\nExamples:\n  podium metrics 12");
  command->callback([id, &session] { run_metrics(*id, session); });
}

void add_series(CLI::App& app, Session& session) {
  const auto options = std::make_shared<SeriesOptions>();
  CLI::App* command =
      app.add_subcommand("series", "Print a job's metric points: key, step, time in ms, value");
  add_job(*command, options->job);
  command->add_option("KEY", options->keys, "The metrics, such as train/loss")->required();
  command
      ->add_option("--points", options->points, "At most this many points of each metric; extremes are kept")
      ->check(CLI::Range(2, 20'000))
      ->capture_default_str();
  command->footer(R"(
Examples:
  podium series 12 train/loss eval/mlm_loss > curves.tsv)");
  command->callback([options, &session] { run_series(*options, session); });
}

}  // namespace podium::cli
