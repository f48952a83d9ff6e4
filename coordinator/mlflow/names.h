// What MLflow lets metrics, params, tags and experiments be called, and how long their values may be. Each
// function says what is wrong, or "".
#pragma once

#include <string>
#include <string_view>

namespace podium::mlflow {

inline constexpr std::size_t kMostBatchMetrics = 1'000;
inline constexpr std::size_t kMostNewTags = 1'000;  // of a run or an experiment, when it is made
inline constexpr std::size_t kLongestKey = 250;     // characters, as all of these
inline constexpr std::size_t kLongestParam = 6'000;
inline constexpr std::size_t kLongestTag = 8'000;
inline constexpr std::size_t kLongestRunName = 250;
inline constexpr std::size_t kLongestExperimentName = 500;

std::string wrong_key(std::string_view what, std::string_view key);                      // what: "metric"
std::string wrong_name(std::string_view what, std::string_view name, std::size_t most);  // what people read
std::string too_long(std::string_view what, std::string_view value, std::size_t most);

}  // namespace podium::mlflow
