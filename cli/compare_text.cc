#include "cli/compare_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "cli/costs_text.h"
#include "cli/fields.h"
#include "cli/humanise.h"
#include "cli/job_text.h"
#include "cli/table.h"

namespace podium::cli {
namespace {

using nlohmann::json;

constexpr std::size_t kCommitDigits = 12;
constexpr std::size_t kLongValue = 24;  // beyond it what all have in front is left out

struct Row {
  std::string name;
  std::vector<Cell> cells;  // one a job
};

std::string field_text(const json& value, const std::string& key) {
  if (value.is_null()) return "–";
  if (!value.is_string()) return value.dump();
  const std::string text = value.get<std::string>();
  return key == "commit" || key.ends_with(".commit") ? text.substr(0, kCommitDigits) : text;
}

// How much all have in front, up to the end of a word.
std::size_t common_length(const std::vector<std::string>& texts) {
  std::size_t length = texts.front().size();
  for (const std::string& text : texts) {
    const auto [end, other] = std::ranges::mismatch(texts.front(), text);
    length = std::min(length, static_cast<std::size_t>(end - texts.front().begin()));
  }
  const std::size_t word = texts.front().substr(0, length).find_last_of("/ ,-_.[");
  return word == std::string::npos ? 0 : word + 1;
}

void leave_out_common(std::vector<std::string>& texts) {
  const auto longest = std::ranges::max_element(texts, {}, &std::string::size);
  if (longest->size() <= kLongValue) return;
  const std::size_t length = common_length(texts);
  if (length < kLongValue / 2) return;
  for (std::string& text : texts) text = "…" + text.substr(length);
}

Row field_row(const json& field) {
  const std::string key = text_field(field, "key"), section = text_field(field, "section");
  std::vector<std::string> texts;
  for (const json& value : field.at("values")) texts.push_back(field_text(value, key));
  if (flag_field(field, "differs")) leave_out_common(texts);
  Row row{section == "spec" ? key : section + " " + key, {}};
  const Colour colour = flag_field(field, "differs") ? Colour::none : Colour::dim;
  for (std::string& text : texts) row.cells.push_back({std::move(text), colour});
  return row;
}

std::string outcome_name(const json& outcome, const std::string& currency) {
  const std::string metric = text_field(outcome, "metric"), measure = text_field(outcome, "measure");
  if (measure == "device_time") return "device hours";
  if (measure.starts_with("cost")) return in_words(measure) + ", " + currency;
  return metric.empty() ? in_words(measure) : metric + " " + measure;
}

std::string outcome_value(const json& value, const std::string& measure) {
  if (!value.is_number()) return human_value(value);
  if (measure == "time_to_train" || measure == "run_time") return human_seconds(value.get<double>());
  if (measure.starts_with("energy")) return human_joules(value.get<double>());
  if (measure.starts_with("cost")) return human_amount(value.get<double>(), "");
  return human_value(measure == "device_time" ? value.get<double>() / 3600 : value.get<double>());
}

Row outcome_row(const json& outcome, const json& comparison) {
  const std::string measure = text_field(outcome, "measure");
  const json& jobs = comparison.at("jobs");
  Row row{outcome_name(outcome, text_field(comparison, "currency")), {}};
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    std::string text = outcome_value(outcome.at("values").at(i), measure);
    const json& step = outcome.at("steps").at(i);
    if (measure == "best" && step.is_number()) text += " @" + human_count(step.get<std::int64_t>());
    const std::string difference = difference_text(outcome.at("differences").at(i));
    if (!difference.empty()) text += " (" + difference + ")";
    const json& best = outcome.at("best");
    const bool is_best = std::ranges::find(best, jobs.at(i).at("id")) != best.end();
    row.cells.push_back({std::move(text), is_best ? Colour::bold : Colour::none});
  }
  return row;
}

bool is_uncommitted(const json& comparison, std::size_t i) {
  const json& source = comparison.at("sources").at(i);
  return source.is_object() && flag_field(source, "dirty");
}

// What must be known of a job's figures.
std::string marks_text(const json& comparison, std::size_t i) {
  const json& job = comparison.at("jobs").at(i);
  const json& artificial = comparison.at("artificial");
  std::vector<std::string> marks;
  if (!has_ended(job) && !field(job, "started_ms").is_null()) marks.emplace_back("so far");
  if (integer_field(job, "restarts") > 0) marks.emplace_back("restarted");
  if (std::ranges::find(artificial, job.at("id")) != artificial.end())
    marks.emplace_back("artificial devices");
  if (is_uncommitted(comparison, i)) marks.emplace_back("uncommitted changes");
  std::string text;
  for (const std::string& mark : marks) text += (text.empty() ? "" : ", ") + mark;
  return text;
}

std::vector<Row> head_rows(const json& comparison) {
  Row names{"name", {}}, states{"state", {}}, marks{"note", {}};
  bool marked = false;
  for (std::size_t i = 0; i < comparison.at("jobs").size(); ++i) {
    const json& job = comparison.at("jobs").at(i);
    names.cells.push_back({text_field(job, "name")});
    const std::string state = text_field(job, "state", "?");
    states.cells.push_back(
        {has_ended(job) ? state_text(job) : state_text(job) + " " + progress_text(job), state_colour(state)});
    marks.cells.push_back({marks_text(comparison, i), Colour::yellow});
    marked |= !marks.cells.back().text.empty();
  }
  std::vector<Row> rows{std::move(names), std::move(states)};
  if (marked) rows.push_back(std::move(marks));
  return rows;
}

std::string job_title(const json& comparison, const json& job) {
  return "JOB " + job.at("id").dump() + (job.at("id") == comparison.at("base") ? " (base)" : "");
}

// A column a job. All three tables have the same columns, so that a job stands in one line.
std::string side_by_side(const json& comparison, const std::vector<std::vector<Row>>& parts,
                         const Terminal& terminal) {
  std::vector<Column> columns{{"", false, true, 16}};
  for (const json& job : comparison.at("jobs"))
    columns.push_back({job_title(comparison, job), false, true, 10});
  Table table(std::move(columns));
  for (const auto& part : parts) {
    if (part.empty()) continue;
    if (!table.empty()) table.add(std::vector<Cell>(comparison.at("jobs").size() + 1));
    for (const Row& row : part) {
      std::vector<Cell> cells{{row.name, Colour::dim}};
      cells.insert(cells.end(), row.cells.begin(), row.cells.end());
      table.add(std::move(cells));
    }
  }
  return table.render(terminal);
}

// A row a job. What matters least, the last columns, is left out first where the window is narrow.
std::string one_below_another(const json& comparison, const std::vector<std::vector<Row>>& parts,
                              const Terminal& terminal) {
  std::vector<Row> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  std::vector<Column> columns{{"JOB", true}};
  int spare = 0;
  for (const Row& row : all) columns.push_back({row.name, false, true, 8, spare++});
  Table table(std::move(columns));
  for (std::size_t i = 0; i < comparison.at("jobs").size(); ++i) {
    const json& id = comparison.at("jobs").at(i).at("id");
    std::vector<Cell> cells{{id.dump() + (id == comparison.at("base") ? "*" : "")}};
    for (const Row& row : all) cells.push_back(row.cells[i]);
    table.add(std::move(cells));
  }
  return table.render(terminal) +
         "* the base; with more than 8 jobs each has a row; a wider window or a pipe shows columns that "
         "do not fit\n";
}

std::string rest_text(const json& comparison) {
  const std::int64_t same = integer_field(comparison, "same"),
                     left_out = integer_field(comparison, "left_out");
  const bool shown = std::ranges::any_of(comparison.at("fields"),
                                         [](const json& field) { return !flag_field(field, "differs"); });
  std::string text;
  if (comparison.at("fields").empty()) text = "No difference is recorded.\n";
  if (same > 0 && !shown) text += fmt::format("{} settings are equal; --all shows them\n", human_count(same));
  if (left_out > 0) text += fmt::format("{} more are left out\n", human_count(left_out));
  return text;
}

}  // namespace

std::string difference_text(const json& fraction) {
  if (!fraction.is_number() || fraction.get<double>() == 0) return "";
  if (fraction.get<double>() > 9) return "×" + human_count(std::llround(1 + fraction.get<double>()));
  const double percent = 100 * fraction.get<double>(), size = std::abs(percent);
  const int digits = size < 0.995 ? 2 : size < 9.95 ? 1 : 0;
  const std::string number = fmt::format("{:.{}f}", size, digits);
  return (percent < 0 ? "−" : "+") + number + " %";
}

std::string comparison_text(const json& comparison, const Terminal& terminal) {
  std::vector<Row> fields, outcomes;
  for (const json& field : comparison.at("fields")) fields.push_back(field_row(field));
  for (const json& outcome : comparison.at("outcomes")) outcomes.push_back(outcome_row(outcome, comparison));
  const std::vector<Row> head = head_rows(comparison);
  if (comparison.at("jobs").size() <= kMostColumns)
    return side_by_side(comparison, {head, fields, outcomes}, terminal) + rest_text(comparison);
  return one_below_another(comparison, {head, outcomes, fields}, terminal) + rest_text(comparison);
}

}  // namespace podium::cli
