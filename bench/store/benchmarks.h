// What the store's chunks come to: bytes a point of real curves beside other ways to keep them, and how soon
// a part of a long curve is there.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/figure.h"
#include "coordinator/store/chunks/point.h"

namespace podium {

struct Curve {
  std::string key;
  std::vector<StoredPoint> points;  // by step
};

// Of an events.jsonl, or of an MLPerf result log.
std::vector<Curve> read_curves(const std::filesystem::path& file);

// The same points in bytes as others pack them; both say what they are called.
std::size_t gorilla_bytes(const std::vector<StoredPoint>& points);
std::size_t shuffled_bytes(const std::vector<StoredPoint>& points);
std::size_t row_bytes(const std::vector<StoredPoint>& points);

std::vector<Figure> measure_bytes(const std::string& name, const std::vector<Curve>& curves);
std::vector<Figure> measure_windows();
std::vector<Figure> measure_writing();
std::vector<Figure> measure_large();

}  // namespace podium
