#include "cli/simulate/trace_file.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "common/base/units.h"

namespace podium::cli {
namespace {

enum class TraceColumn {
  submit,
  duration,
  devices,
  max_devices,
  account,
  priority,
  walltime,
  partition,
  per_node
};

struct TraceColumnName {
  std::string_view name;
  TraceColumn column;
};

// The first name of a column is ours; the others are those of published traces.
constexpr std::array kColumns{TraceColumnName{"submit", TraceColumn::submit},
                              TraceColumnName{"timestamp", TraceColumn::submit},
                              TraceColumnName{"submit_time", TraceColumn::submit},
                              TraceColumnName{"submitted_time", TraceColumn::submit},
                              TraceColumnName{"duration", TraceColumn::duration},
                              TraceColumnName{"run_time", TraceColumn::duration},
                              TraceColumnName{"devices", TraceColumn::devices},
                              TraceColumnName{"num_gpus", TraceColumn::devices},
                              TraceColumnName{"num_gpu", TraceColumn::devices},
                              TraceColumnName{"gpu_num", TraceColumn::devices},
                              TraceColumnName{"max_devices", TraceColumn::max_devices},
                              TraceColumnName{"account", TraceColumn::account},
                              TraceColumnName{"user", TraceColumn::account},
                              TraceColumnName{"priority", TraceColumn::priority},
                              TraceColumnName{"walltime", TraceColumn::walltime},
                              TraceColumnName{"partition", TraceColumn::partition},
                              TraceColumnName{"cluster", TraceColumn::partition},
                              TraceColumnName{"vc", TraceColumn::partition},
                              TraceColumnName{"per_node", TraceColumn::per_node}};
constexpr std::array kRequired{TraceColumn::submit, TraceColumn::duration, TraceColumn::devices};

constexpr int kMostJobDevices = 1'000'000;
constexpr int kHighestPriority = 100;
constexpr double kLongestSeconds = 1e10;  // 300 years: keeps milliseconds far from overflow

std::string_view own_name(TraceColumn column) {
  return std::ranges::find(kColumns, column, &TraceColumnName::column)->name;
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// A line's fields; "a ""quoted"", field" may hold commas.
std::vector<std::string> split(std::string_view line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"')
      fields.back() += line[++i];
    else if (line[i] == '"')
      quoted = !quoted;
    else if (line[i] == ',' && !quoted)
      fields.emplace_back();
    else
      fields.back() += line[i];
  }
  for (std::string& field : fields) field = std::string(trimmed(field));
  return fields;
}

template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<Duration> seconds_of(std::string_view text) {
  const auto seconds = number_of<double>(text);
  if (!seconds || !(*seconds >= 0 && *seconds <= kLongestSeconds)) return std::nullopt;
  return Duration(std::llround(*seconds * 1000));
}

std::optional<Duration> duration_of(std::string_view text) {
  const auto seconds = seconds_of(text);
  return seconds ? seconds : parse_duration(text);
}

// "2017-10-09 07:01:55", also with a T between and a Z behind.
std::optional<Time> date_of(std::string_view text) {
  if (text.ends_with('Z')) text.remove_suffix(1);
  if (text.size() != 19 || text[4] != '-' || text[7] != '-' || (text[10] != ' ' && text[10] != 'T') ||
      text[13] != ':' || text[16] != ':')
    return std::nullopt;
  const auto part = [text](std::size_t at, std::size_t size) {
    return number_of<int>(text.substr(at, size)).value_or(-1);
  };
  const int month = part(5, 2), day = part(8, 2), hour = part(11, 2), minute = part(14, 2),
            second = part(17, 2);
  const std::chrono::year_month_day date{std::chrono::year(part(0, 4)),
                                         std::chrono::month(static_cast<unsigned>(std::max(month, 0))),
                                         std::chrono::day(static_cast<unsigned>(std::max(day, 0)))};
  if (!date.ok() || date.year() < std::chrono::year(1970)) return std::nullopt;
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) return std::nullopt;
  return std::chrono::sys_days(date) + std::chrono::hours(hour) + std::chrono::minutes(minute) +
         std::chrono::seconds(second);
}

std::optional<Time> time_of(std::string_view text) {
  if (const auto seconds = seconds_of(text)) return Time(*seconds);
  return date_of(text);
}

std::string in_quotes(std::string_view text) { return "\"" + std::string(text) + "\""; }

struct Header {
  std::vector<std::optional<TraceColumn>> columns;  // by field

  bool has(TraceColumn column) const { return std::ranges::find(columns, column) != columns.end(); }
};

Errors read_header(std::string_view line, const std::string& name, Header& header, TraceFile& trace) {
  Errors errors;
  for (const std::string& field : split(line)) {
    const auto known = std::ranges::find(kColumns, field, &TraceColumnName::name);
    if (known == kColumns.end()) {
      trace.ignored.push_back(field);
      header.columns.emplace_back();
    } else if (header.has(known->column)) {
      errors.push_back({ErrorCode::invalid,
                        "the column " + in_quotes(field) + " tells " + std::string(own_name(known->column)) +
                            " a second time; remove one of the two",
                        name + ":1"});
    } else {
      header.columns.emplace_back(known->column);
    }
  }
  for (const TraceColumn column : kRequired)
    if (!header.has(column))
      errors.push_back({ErrorCode::invalid,
                        "the header names no column " + in_quotes(own_name(column)) +
                            "; a trace has submit, duration and devices, one job a line",
                        name + ":1"});
  return errors;
}

// Why the field makes no sense; "" when it does.
std::string read_field(TraceColumn column, const std::string& text, TraceRow& row) {
  const auto whole = [&text](int low, int high, int& into) {
    const auto number = number_of<int>(text);
    if (!number || *number < low || *number > high) return false;
    into = *number;
    return true;
  };
  switch (column) {
    case TraceColumn::submit:
      if (const auto time = time_of(text)) {
        row.submit = *time;
        return "";
      }
      return "submit is seconds or a date like 2026-03-01 12:00:00, not " + in_quotes(text);
    case TraceColumn::duration:
      if (const auto duration = duration_of(text)) {
        row.work = *duration;
        return "";
      }
      return "duration is seconds or like 2h30m, not " + in_quotes(text);
    case TraceColumn::devices:
      return whole(1, kMostJobDevices, row.devices)
                 ? ""
                 : "devices is a whole number from 1, not " + in_quotes(text);
    case TraceColumn::max_devices:
      if (text.empty() || whole(0, kMostJobDevices, row.max_devices)) return "";
      return "max_devices is a whole number, not " + in_quotes(text);
    case TraceColumn::account:
      row.account = text;
      return "";
    case TraceColumn::priority:
      if (text.empty() || whole(0, kHighestPriority, row.priority)) return "";
      return "priority is a whole number from 0 to 100, not " + in_quotes(text);
    case TraceColumn::walltime:
      if (text.empty()) return "";
      row.walltime = duration_of(text);
      return row.walltime && *row.walltime > Duration{}
                 ? ""
                 : "walltime is seconds or like 2h30m, not " + in_quotes(text);
    case TraceColumn::partition:
      row.partition = text;
      return "";
    case TraceColumn::per_node:
      if (text.empty() || whole(0, kMostJobDevices, row.per_node)) return "";
      return "per_node is a whole number from 0, not " + in_quotes(text);
  }
  return "";
}

std::string read_row(std::string_view line, const Header& header, TraceRow& row) {
  const std::vector<std::string> fields = split(line);
  if (fields.size() != header.columns.size())
    return "has " + std::to_string(fields.size()) + " fields; the header has " +
           std::to_string(header.columns.size());
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (!header.columns[i]) continue;
    if (std::string why = read_field(*header.columns[i], fields[i], row); !why.empty()) return why;
  }
  return "";
}

}  // namespace

Result<TraceFile> parse_trace(std::string_view text, const std::string& name) {
  TraceFile trace;
  Header header;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // what spreadsheets write first
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (number == 1) {
      if (Errors errors = read_header(line, name, header, trace); !errors.empty()) return errors;
      continue;
    }
    if (line.empty()) continue;
    TraceRow row;
    row.line = number;
    if (std::string why = read_row(line, header, row); !why.empty())
      trace.bad.push_back({number, std::move(why)});
    else
      trace.rows.push_back(std::move(row));
  }
  if (trace.rows.empty())
    return Error{ErrorCode::invalid,
                 trace.bad.empty() ? "holds no jobs"
                                   : "no line holds a job; line " + std::to_string(trace.bad.front().line) +
                                         ": " + trace.bad.front().why,
                 name};
  std::ranges::stable_sort(trace.rows, {}, &TraceRow::submit);
  trace.has_accounts = header.has(TraceColumn::account);
  trace.has_partitions = header.has(TraceColumn::partition);
  return trace;
}

}  // namespace podium::cli
