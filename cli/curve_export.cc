#include "cli/curve_export.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <map>

#include "cli/curves/csv.h"
#include "cli/curves/event.h"
#include "cli/curves/frame.h"
#include "cli/curves/number_text.h"
#include "cli/curves/text_curves.h"
#include "cli/fields.h"

namespace podium::cli {
namespace {

using nlohmann::json;

constexpr std::uint64_t kMostInMemory = 2'000'000;  // points of a wide table

// Every value of the spec by its path: training.optimizer.lr.
void add_parameters(const json& value, const std::string& path, HyperParameters& parameters) {
  if (value.is_object()) {
    for (const auto& [key, below] : value.items())
      add_parameters(below, path.empty() ? key : path + "." + key, parameters);
  } else if (value.is_boolean()) {
    parameters.emplace_back(path, value.get<bool>());
  } else if (value.is_number()) {
    parameters.emplace_back(path, value.get<double>());
  } else if (!value.is_null()) {
    parameters.emplace_back(path, value.is_string() ? value.get<std::string>() : value.dump());
  }
}

// Indented text is code in Markdown.
std::string as_markdown(const json& spec) {
  std::string text = "    ";
  for (const char c : spec.dump(2)) text += c == '\n' ? std::string("\n    ") : std::string(1, c);
  return text;
}

// All columns of one job, step by step; the time of a row is the latest of its values.
void write_rows(KeptConnection& connection, const ExportedJob& job,
                const std::map<std::string, std::size_t>& columns, const Sink& sink,
                const std::function<void()>& count) {
  struct Column {
    std::size_t place;
    CurveReader reader;
    std::optional<CurvePoint> next;
  };
  std::vector<Column> readers;
  const std::uint64_t page =
      std::clamp<std::uint64_t>(kMostInMemory / (job.metrics.size() + 1), 1000, kLongestPage);
  CurveReaders all(connection, job.run_id, job.metrics, page);
  for (const JobMetric& metric : job.metrics) {
    CurveReader reader = all.next();
    std::optional<CurvePoint> first = reader.next();
    readers.push_back({columns.at(metric.name), std::move(reader), first});
  }
  while (true) {
    std::optional<std::int64_t> step;
    for (const Column& column : readers)
      if (column.next) step = std::min(step.value_or(column.next->step), column.next->step);
    if (!step) return;
    std::vector<std::string> values(columns.size());
    std::int64_t time = 0;
    for (Column& column : readers) {
      if (!column.next || column.next->step != *step) continue;
      values[column.place] = value_text(column.next->value);
      time = std::max(time, column.next->time_ms);
      column.next = column.reader.next();
      count();
    }
    std::string row = fmt::format("{},{},{},{}", csv_field(job.run), job.id(), *step, time);
    for (const std::string& value : values) row += "," + value;
    sink(row + "\n");
  }
}

// The names of all metrics, in their order, and their places.
std::map<std::string, std::size_t> columns_of(const std::vector<ExportedJob>& jobs) {
  std::map<std::string, std::size_t> columns;
  for (const ExportedJob& job : jobs)
    for (const JobMetric& metric : job.metrics) columns.emplace(metric.name, 0);
  std::size_t place = 0;
  for (auto& [name, at] : columns) at = place++;
  return columns;
}

std::string wide_head(const std::map<std::string, std::size_t>& columns) {
  std::string head = "run,job,step,time_ms";
  for (const auto& [name, place] : columns) head += "," + csv_field(name);
  return head + "\n";
}

void write_lines(KeptConnection& connection, const ExportedJob& job, const decltype(&csv_line)& line,
                 const Sink& sink, const std::function<void()>& count) {
  CurveReaders readers(connection, job.run_id, job.metrics);
  for (const JobMetric& metric : job.metrics) {
    CurveReader reader = readers.next();
    while (const auto point = reader.next()) {
      sink(line(job.run, job.id(), metric.name, *point));
      count();
    }
  }
}

}  // namespace

std::int64_t begin_of(const ExportedJob& job) {
  const std::int64_t started = integer_field(job.job, "started_ms");
  return started > 0 ? started : integer_field(job.job, "submitted_ms");
}

std::uint64_t write_events(KeptConnection& connection, const ExportedJob& job, const Sink& sink,
                           const PointsDone& done) {
  const std::int64_t begin = begin_of(job);
  sink(framed(version_event(static_cast<double>(begin) / 1000)));
  if (const json spec = field(job.job, "spec"); spec.is_object()) {
    HyperParameters parameters;
    add_parameters(spec, "", parameters);
    sink(framed(hyperparameters_event(job.run, parameters, begin)));
    sink(framed(text_event("spec", as_markdown(spec), begin)));
  }
  std::uint64_t points = 0;
  CurveReaders readers(connection, job.run_id, job.metrics);
  for (const JobMetric& metric : job.metrics) {
    CurveReader reader = readers.next();
    while (const auto point = reader.next()) {
      sink(framed(scalar_event(metric.name, *point)));
      done(++points);
    }
  }
  return points;
}

std::vector<std::uint64_t> write_table(KeptConnection& connection, const std::vector<ExportedJob>& jobs,
                                       TableForm form, const Sink& sink, const PointsDone& done) {
  std::vector<std::uint64_t> points;
  std::uint64_t all = 0;
  const auto count = [&] {
    ++points.back();
    done(++all);
  };
  std::map<std::string, std::size_t> columns;
  if (form == TableForm::wide_csv) {
    columns = columns_of(jobs);
    sink(wide_head(columns));
  } else if (form == TableForm::csv) {
    sink(csv_head());
  }
  const auto line = form == TableForm::csv ? csv_line : json_line;
  for (const ExportedJob& job : jobs) {
    points.push_back(0);
    if (form == TableForm::wide_csv)
      write_rows(connection, job, columns, sink, count);
    else
      write_lines(connection, job, line, sink, count);
  }
  return points;
}

}  // namespace podium::cli
