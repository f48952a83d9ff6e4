#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "bench/store/benchmarks.h"
#include "common/model/codec.h"

namespace podium {
namespace {

using nlohmann::json;
using Curves = std::map<std::string, std::map<std::int64_t, StoredPoint>>;

constexpr std::string_view kMlperf = ":::MLLOG ";

void take(Curves& curves, const std::string& key, std::int64_t step, std::int64_t time_ms, double value) {
  curves[key][step] = {step, time_ms, value, 1};
}

void take_event(Curves& curves, const json& event) {
  if (event.value("type", "") != "metrics") return;
  for (const auto& [key, value] : event.at("values").items())
    take(curves, key, event.at("step"), event.at("t"), number_from_json(value));
}

// Numbers of the run, in the order in which they come.
void take_entry(Curves& curves, const json& entry) {
  const std::string key = entry.value("key", "");
  const json& value = entry.at("value");
  const auto add = [&](const std::string& name, const json& number) {
    if (number.is_number())
      take(curves, name, std::ssize(curves[name]) + 1, entry.at("time_ms"), number.get<double>());
  };
  if (key == "eval_accuracy") add(key, value);
  if (key != "tracked_stats" || !value.is_object()) return;
  for (const auto& [name, number] : value.items()) add(name, number);
}

}  // namespace

std::vector<Curve> read_curves(const std::filesystem::path& file) {
  std::ifstream lines(file);
  if (!lines) throw std::runtime_error("cannot read " + file.string());
  Curves curves;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t mark = line.find(kMlperf);
    const json read =
        json::parse(mark == std::string::npos ? line : line.substr(mark + kMlperf.size()), nullptr, false);
    if (read.is_discarded() || !read.is_object()) continue;
    if (mark == std::string::npos)
      take_event(curves, read);
    else
      take_entry(curves, read);
  }
  std::vector<Curve> all;
  for (const auto& [key, points] : curves) {
    Curve& curve = all.emplace_back(Curve{key, {}});
    for (const auto& [_, point] : points) curve.points.push_back(point);
  }
  return all;
}

}  // namespace podium
