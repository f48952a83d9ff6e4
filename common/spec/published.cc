#include "common/spec/published.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "common/spec/explain.h"
#include "common/spec/yaml_document.h"

namespace podium {

extern const std::string_view kPublishedSchemaText;  // embedded_published.cc.in
extern const std::vector<std::pair<std::string_view, std::string_view>> kPublishedFiles;

namespace {

using nlohmann::json;

const json& schema() {
  static const json parsed = json::parse(kPublishedSchemaText);
  return parsed;
}

std::optional<std::int64_t> number_in(const json& row, const char* key) {
  return row.contains(key) ? std::optional(row.at(key).get<std::int64_t>()) : std::nullopt;
}

PublishedRow row_from(const json& in, std::string_view file) {
  const auto text = [&in](const char* key) { return in.value(key, std::string()); };
  PublishedRow row;
  row.benchmark = text("benchmark");
  row.what = text("what");
  row.hardware = text("hardware");
  row.devices = in.at("devices");
  row.precision = text("precision");
  row.batch = number_in(in, "batch");
  row.value = in.at("value");
  row.unit = text("unit");
  row.runs = number_in(in, "runs");
  row.source = text("source");
  row.url = text("url");
  row.date = text("date");
  row.note = text("note");
  row.file = file;
  return row;
}

// The rules that a schema cannot express.
void check_rows(const json& records, Problems& problems) {
  for (std::size_t i = 0; i < records.size(); ++i) {
    const std::string at = "/records/" + std::to_string(i);
    for (std::size_t before = 0; before < i; ++before)
      if (records[before] == records[i]) {
        problems.add(at, dotted(at) + " says what " + dotted("/records/" + std::to_string(before)) +
                             " says already; keep one");
        break;
      }
  }
}

}  // namespace

Result<std::vector<PublishedRow>> load_published(std::string_view yaml, std::string_view file_name) {
  SourceMap places;
  Problems problems(file_name, places);
  const std::optional<json> document = read_yaml(yaml, places, problems);
  if (!document) return problems.errors();
  explain_all(schema(), *document, "the file", problems);
  if (problems.empty()) check_rows(document->at("records"), problems);
  if (!problems.empty()) return problems.errors();
  std::vector<PublishedRow> rows;
  for (const json& record : document->at("records")) rows.push_back(row_from(record, file_name));
  sort_published(rows);
  return rows;
}

void sort_published(std::vector<PublishedRow>& rows) {
  std::ranges::stable_sort(rows, {}, [](const PublishedRow& row) {
    return std::tie(row.benchmark, row.unit, row.devices, row.date);
  });
}

const std::vector<PublishedRow>& shipped_published() {
  static const std::vector<PublishedRow> shipped = [] {
    std::vector<PublishedRow> all;
    for (const auto& [name, text] : kPublishedFiles)
      std::ranges::copy(load_published(text, name).value(), std::back_inserter(all));
    sort_published(all);
    return all;
  }();
  return shipped;
}

json to_json(const PublishedRow& row) {
  json out{{"benchmark", row.benchmark}, {"what", row.what},   {"hardware", row.hardware},
           {"devices", row.devices},     {"value", row.value}, {"unit", row.unit},
           {"source", row.source},       {"date", row.date},   {"file", row.file}};
  const auto text = [&out](const char* key, const std::string& value) {
    out[key] = value.empty() ? json() : json(value);
  };
  text("precision", row.precision);
  text("url", row.url);
  text("note", row.note);
  out["batch"] = row.batch ? json(*row.batch) : json();
  out["runs"] = row.runs ? json(*row.runs) : json();
  return out;
}

}  // namespace podium
