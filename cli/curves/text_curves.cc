#include "cli/curves/text_curves.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "cli/curves/column.h"
#include "cli/curves/csv.h"
#include "cli/curves/number_text.h"
#include "common/base/text.h"

namespace podium::cli {
namespace {

using nlohmann::json;

constexpr std::size_t kMostProblems = 20;
constexpr std::size_t kShown = 60;  // bytes of a value in a message

// The problems of a file, of which the first are kept.
class Report {
 public:
  explicit Report(const std::string& file) : file_(file) {}
  bool full() const { return errors_.size() >= kMostProblems; }
  void add(int line, std::string message) {
    if (!full())
      errors_.push_back({ErrorCode::invalid, std::move(message), fmt::format("{}:{}", file_, line)});
  }
  void no_number(int line, std::string_view name, const std::string& text, const char* what) {
    add(line, fmt::format("{} is \"{}\", which is no {}", name, cut_text(text, kShown), what));
  }
  Errors take() { return std::move(errors_); }

 private:
  const std::string& file_;
  Errors errors_;
};

// One line as text by column; reads what all its points share.
struct Row {
  int line = 0;
  std::optional<std::string> run, metric, step, time, time_ms, value;
  std::vector<std::pair<std::string, std::string>> values;  // by metric, of a wide file
};

bool take_time(const Row& row, CurvePoint& point, Report& report) {
  const bool exact = row.time_ms.has_value();
  const std::string text = exact ? *row.time_ms : row.time.value_or("");
  if (text.empty()) return true;
  const auto time = exact ? integer_of(text) : time_of(text);
  if (time && *time >= 0) {
    point.time_ms = *time;
    return true;
  }
  if (exact)
    report.no_number(row.line, "time_ms", text, "whole number of milliseconds since 1970");
  else
    report.no_number(row.line, "time", text,
                     "time: seconds or milliseconds since 1970, or 2026-03-01T12:00:00Z");
  return false;
}

void take_row(const Row& row, const TextCurves& curves, Report& report, const TakePoint& take) {
  TaggedPoint tagged{row.run.value_or(""), row.metric.value_or(curves.metric), {0, curves.time_ms, 0}};
  if (!row.step || row.step->empty()) return report.add(row.line, "has no step");
  const auto step = integer_of(*row.step);
  if (!step) return report.no_number(row.line, "step", *row.step, "whole number");
  tagged.point.step = *step;
  if (!take_time(row, tagged.point, report)) return;
  const auto add = [&](const std::string& metric, const std::string& text) {
    if (!curves.wanted(metric)) return;
    const auto value = value_of(text);
    if (!value) return report.no_number(row.line, metric, text, "number");
    tagged.metric = metric;
    tagged.point.value = *value;
    take(tagged);
  };
  if (row.value && tagged.metric.empty()) return report.add(row.line, "names no metric");
  if (row.value) add(tagged.metric, *row.value);
  for (const auto& [metric, text] : row.values)
    if (!text.empty()) add(metric, text);
}

struct Header {
  std::vector<std::string> names;
  std::vector<Column> columns;

  bool has(Column column) const { return std::ranges::find(columns, column) != columns.end(); }
};

bool read_header(CsvReader& reader, Header& header, Report& report) {
  if (!reader.next(header.names)) {
    report.add(1, reader.broken().empty() ? "the file is empty" : reader.broken());
    return false;
  }
  for (const std::string& name : header.names) header.columns.push_back(column_of(name));
  if (!header.has(Column::step)) {
    report.add(reader.line(), "no column is named step: the first line must name the columns");
    return false;
  }
  if (header.has(Column::value))  // others of a long file are no metrics
    std::ranges::replace(header.columns, Column::metric_value, Column::job);
  return true;
}

Row row_of(const Header& header, const std::vector<std::string>& fields, int line) {
  Row row{line, {}, {}, {}, {}, {}, {}, {}};
  for (std::size_t i = 0; i < fields.size(); ++i) {
    switch (header.columns[i]) {
      case Column::run:
        row.run = fields[i];
        break;
      case Column::job:
        break;
      case Column::metric:
        row.metric = fields[i];
        break;
      case Column::step:
        row.step = fields[i];
        break;
      case Column::time:
        row.time = fields[i];
        break;
      case Column::time_ms:
        row.time_ms = fields[i];
        break;
      case Column::value:
        row.value = fields[i];
        break;
      case Column::metric_value:
        row.values.emplace_back(header.names[i], fields[i]);
        break;
    }
  }
  return row;
}

// The text of a value that is a number, or the name of one that JSON has none for.
std::optional<std::string> number_in(const json& value) {
  if (value.is_number_float()) return value_text(value.get<double>());
  if (value.is_number()) return value.dump();
  if (value.is_string() && value_of(value.get_ref<const std::string&>())) return value.get<std::string>();
  return std::nullopt;
}

// Hostile lists may be nested deeply.
std::string text_of(const json& value) {
  if (value.is_structured()) return value.is_array() ? "[…]" : "{…}";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// `values` may hold the metrics of a wide line, as in Podium's own events.
Row row_of(const json& object, int line) {
  Row row{line, {}, {}, {}, {}, {}, {}, {}};
  const bool is_long = object.contains("value");
  for (const auto& [name, value] : object.items()) {
    switch (column_of(name)) {
      case Column::run:
        row.run = text_of(value);
        break;
      case Column::job:
        break;
      case Column::metric:
        row.metric = text_of(value);
        break;
      case Column::step:
        row.step = text_of(value);
        break;
      case Column::time:
        row.time = text_of(value);
        break;
      case Column::time_ms:
        row.time_ms = text_of(value);
        break;
      case Column::value:
        row.value = text_of(value);
        break;
      case Column::metric_value:
        if (const auto number = number_in(value); number && !is_long) row.values.emplace_back(name, *number);
        if (name == "values" && value.is_object())
          for (const auto& [metric, each] : value.items())
            if (const auto number = number_in(each)) row.values.emplace_back(metric, *number);
    }
  }
  return row;
}

}  // namespace

std::string csv_head() { return "run,job,metric,step,time_ms,value\n"; }

std::string csv_line(const std::string& run, std::int64_t job, const std::string& metric,
                     const CurvePoint& point) {
  return fmt::format("{},{},{},{},{},{}\n", csv_field(run), job, csv_field(metric), point.step, point.time_ms,
                     value_text(point.value));
}

std::string json_line(const std::string& run, std::int64_t job, const std::string& metric,
                      const CurvePoint& point) {
  const bool named = value_text(point.value).find_first_of("NI") != std::string::npos;
  return fmt::format(R"({{"run":{},"job":{},"metric":{},"step":{},"time_ms":{},"value":{}}})"
                     "\n",
                     json(run).dump(), job, json(metric).dump(), point.step, point.time_ms,
                     named ? json(value_text(point.value)).dump() : value_text(point.value));
}

Errors read_csv(std::istream& text, const TextCurves& curves, const TakePoint& take) {
  Report report(curves.file);
  CsvReader reader(text);
  Header header;
  if (!read_header(reader, header, report)) return report.take();
  std::vector<std::string> fields;
  while (!report.full() && reader.next(fields)) {
    if (fields.size() == header.names.size())
      take_row(row_of(header, fields, reader.line()), curves, report, take);
    else
      report.add(reader.line(),
                 fmt::format("has {} fields; the first line has {}", fields.size(), header.names.size()));
  }
  if (!reader.broken().empty()) report.add(reader.line(), reader.broken());
  return report.take();
}

Errors read_json_lines(std::istream& text, const TextCurves& curves, const TakePoint& take) {
  Report report(curves.file);
  std::vector<char> line(kLongestLine + 1);
  for (int number = 1; !report.full() && text.peek() != std::istream::traits_type::eof(); ++number) {
    text.getline(line.data(), std::ssize(line));
    if (text.fail()) {
      report.add(number, "a line of more than 1 MiB");
      break;
    }
    const std::string_view read(line.data(), static_cast<std::size_t>(text.gcount()) - (text.eof() ? 0 : 1));
    if (read.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const bool text_alone = read.find('\0') == std::string_view::npos;  // which ends a text to the parser
    const json object = text_alone ? json::parse(read, nullptr, false) : json(json::value_t::discarded);
    if (object.is_object())
      take_row(row_of(object, number), curves, report, take);
    else
      report.add(number, "is no JSON object");
  }
  return report.take();
}

}  // namespace podium::cli
