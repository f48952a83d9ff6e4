#include "cli/board_text.h"

#include <spdlog/fmt/fmt.h>

#include <cmath>

#include "cli/fields.h"
#include "cli/humanise.h"
#include "cli/table.h"

namespace podium::cli {
namespace {

using nlohmann::json;

// "−18 %"
std::string change_text(double fraction) {
  const double percent = 100 * fraction;
  return fmt::format("{}{:.{}f} %", percent < 0 ? "−" : "+", std::abs(percent),
                     std::abs(percent) < 10 ? 1 : 0);
}

std::string fall_text(const json& record) {
  const json improvement = field(record, "improvement");
  return improvement.is_number() ? change_text(-improvement.get<double>()) : "–";
}

std::string joined(const json& texts) {
  std::string out;
  for (const json& text : texts)
    out += (out.empty() ? "" : ", ") + (text.is_string() ? text.get<std::string>() : text.dump());
  return out.empty() ? "–" : out;
}

// "1f0c2ab4 with changes", "not recorded"
std::string commit_text(const json& source) {
  constexpr std::size_t kShort = 10;
  const std::string commit = source.is_object() ? text_field(source, "commit") : "";
  if (commit.empty()) return "not recorded";
  return commit.substr(0, kShort) + (flag_field(source, "dirty") ? " with changes" : "");
}

std::string records_table(const json& classes, const Terminal& terminal, std::int64_t now) {
  Table table({{"DEVICE", false, true, 10},
               {"DEVICES", true},
               {"TIME TO TRAIN", true},
               {"CHANGE", true},
               {"JOB", true},
               {"REACHED", true}});
  for (const json& each : classes) {
    const json& records = each.at("records");
    for (auto record = records.rbegin(); record != records.rend(); ++record)
      table.add({{text_field(each, "device")},
                 {std::to_string(integer_field(each, "devices"))},
                 {human_seconds(number_field(*record, "seconds")),
                  record == records.rbegin() ? Colour::bold : Colour::dim},
                 {fall_text(*record)},
                 {std::to_string(integer_field(*record, "job"))},
                 {human_ago(field(*record, "reached_ms"), now)}});
  }
  return table.empty() ? "No record yet.\n" : table.render(terminal);
}

std::string runs_table(const json& runs, const Terminal& terminal) {
  Table table({{"JOB", true},
               {"TIME TO TRAIN", true},
               {"DEVICES", true},
               {"DEVICE", false, true, 10, 4},
               {"NODES", false, true, 8, 5},
               {"RESTARTS", true, false, 0, 6},
               {"SEED", true, false, 0, 7},
               {"COMMIT", false, false, 0, 2},
               {"SPEC", false, false, 0, 8},
               {"PODIUM", false, false, 0, 9},
               {"REPEATS", true, false, 0, 3},
               {"SETS NO RECORD, FOR", false, true, 12, 1}});
  for (const json& run : runs) {
    const json reproduces = field(run, "reproduces"), seed = field(run, "seed");
    table.add({{std::to_string(integer_field(run, "job"))},
               {human_seconds(number_field(run, "seconds"))},
               {joined(run.at("devices"))},
               {joined(run.at("device_models"))},
               {joined(run.at("nodes"))},
               {std::to_string(integer_field(run, "restarts"))},
               {seed.is_null() ? "–" : seed.dump()},
               {commit_text(field(run, "source"))},
               {text_field(run, "spec_sha256").substr(0, 8)},
               {joined(run.at("versions"))},
               {reproduces.is_null() ? "–" : reproduces.dump()},
               {run.at("excluded").empty() ? "" : joined(run.at("excluded")), Colour::yellow}});
  }
  return table.render(terminal);
}

}  // namespace

std::string board_text(const json& board, const Terminal& terminal, std::int64_t now) {
  std::string text;
  for (const json& benchmark : board.at("benchmarks")) {
    json newest = json::array();
    for (json each : benchmark.at("classes")) {
      each["records"] = json::array({each.at("records").back()});
      newest.push_back(std::move(each));
    }
    const std::int64_t runs = integer_field(benchmark, "runs"),
                       excluded = integer_field(benchmark, "excluded");
    text += fmt::format("{}{}\n{}  ({} run{}{})\n{}", text.empty() ? "" : "\n",
                        paint(terminal, Colour::bold, printable(text_field(benchmark, "name"))),
                        printable(text_field(benchmark, "id")), runs, runs == 1 ? "" : "s",
                        excluded > 0 ? fmt::format(", {} excluded", excluded) : "",
                        records_table(newest, terminal, now));
  }
  return text.empty() ? "No run has reached a target yet. Runs of specs with \"target:\" are listed here "
                        "once they reach it.\n"
                      : text;
}

std::string benchmark_text(const json& benchmark, const Terminal& terminal, std::int64_t now) {
  return fmt::format("{}\n\n{}\n{}", paint(terminal, Colour::bold, printable(text_field(benchmark, "name"))),
                     records_table(benchmark.at("classes"), terminal, now),
                     runs_table(benchmark.at("all"), terminal));
}

std::string reproduction_text(const json& original, const json& job) {
  const json then = field(original, "time_to_train_seconds"), now = field(job, "time_to_train_seconds");
  std::string text = fmt::format("job {}", integer_field(original, "id"));
  if (!then.is_number()) return text;
  text += fmt::format(": {} then", human_seconds(then));
  if (!now.is_number()) return text;
  text += fmt::format(", {} now ({})", human_seconds(now),
                      change_text(now.get<double>() / then.get<double>() - 1));
  const json text_then = field(original, "text"), text_now = field(job, "text");
  const bool other = text_then.is_object() && text_now.is_object() && text_then != text_now;
  return text + (other ? "; the two trained on different texts" : "");
}

}  // namespace podium::cli
