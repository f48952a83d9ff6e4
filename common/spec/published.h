// Figures that others published: files of rows with their sources (schemas/published.schema.json). They are
// shown beside one's own measurements, never among them. Pure: YAML text in, rows out, or every problem at
// once with its place.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"

namespace podium {

struct PublishedRow {
  std::string benchmark;
  std::string what;
  std::string hardware;
  std::int64_t devices = 1;
  std::string precision;  // "" where not published, as all below
  std::optional<std::int64_t> batch;
  double value = 0;
  std::string unit;
  std::optional<std::int64_t> runs;
  std::string source;
  std::string url;
  std::string date;  // "2019", "2019-08" or "2019-08-13"
  std::string note;
  std::string file;  // in which it stands
};

// By benchmark, unit, devices and date.
Result<std::vector<PublishedRow>> load_published(std::string_view yaml, std::string_view file_name);
void sort_published(std::vector<PublishedRow>& rows);

// Those of configs/records, which every build holds.
const std::vector<PublishedRow>& shipped_published();

nlohmann::json to_json(const PublishedRow& row);

}  // namespace podium
