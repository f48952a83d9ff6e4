#include "coordinator/api/published_imports.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <tuple>

#include "common/base/file.h"

namespace podium {
namespace {

using nlohmann::json;

auto thing_of(const PublishedRow& row) {
  return std::tie(row.benchmark, row.hardware, row.devices, row.precision, row.batch, row.unit, row.source);
}

// Whether it is a figure that every build has, whatever its hardware is called.
bool is_shipped(const PublishedRow& row) {
  const auto figure_of = [](const PublishedRow& of) {
    return std::tie(of.benchmark, of.devices, of.precision, of.batch, of.value, of.unit, of.source);
  };
  return std::ranges::any_of(
      shipped_published(), [&](const PublishedRow& shipped) { return figure_of(shipped) == figure_of(row); });
}

json record_of(const PublishedRow& row) {
  json record = to_json(row);
  record.erase("file");
  for (auto value = record.begin(); value != record.end();)
    value = value->is_null() ? record.erase(value) : std::next(value);
  return record;
}

}  // namespace

std::vector<PublishedRow> load_imports(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) return {};
  const auto rows = load_published(read_file(file), file.string());
  if (!rows) throw std::runtime_error(describe(rows.errors()) + "; correct the file, or remove it");
  std::vector<PublishedRow> named = *rows;
  for (PublishedRow& row : named) row.file = kImportsName;
  return named;
}

std::string imports_text(const std::vector<PublishedRow>& rows) {
  json records = json::array();
  for (const PublishedRow& row : rows) records.push_back(record_of(row));
  return json{{"version", 1}, {"records", records}}.dump(1) + "\n";
}

ImportsTaken take_imports(std::vector<PublishedRow> there, const std::vector<PublishedRow>& rows) {
  ImportsTaken taken{std::move(there)};
  for (const PublishedRow& row : rows) {
    const auto old = std::ranges::find_if(
        taken.rows, [&](const PublishedRow& each) { return thing_of(each) == thing_of(row); });
    if (old == taken.rows.end() && is_shipped(row)) {
      ++taken.unchanged;
    } else if (old == taken.rows.end()) {
      taken.rows.push_back(row);
      ++taken.added;
    } else if (record_of(*old) == record_of(row)) {
      ++taken.unchanged;
    } else {
      *old = row;
      ++taken.replaced;
    }
  }
  sort_published(taken.rows);
  return taken;
}

}  // namespace podium
