// Rounds of MLPerf Training, whose rules differ.
#pragma once

#include <array>
#include <compare>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/mlperf/benchmark.h"

namespace podium::mlperf {

struct Round {
  int major = 0, minor = 0;

  auto operator<=>(const Round&) const = default;
};

struct RoundTraits {
  Round round;
  const char* published;  // the month
  bool bert, gpt3;        // whether it has the benchmark
};

// The newest that has both benchmarks.
inline constexpr Round kUsualRound{4, 1};

// "3.0" or "v3.0"; nothing where there is no such round.
std::optional<Round> find_round(std::string_view name);
std::string to_string(Round round);  // "3.0"
const RoundTraits& traits_of(Round round);
bool has(Round round, Benchmark benchmark);
// Ascending.
std::span<const RoundTraits> rounds();
// "0.7, 1.0, …"
std::string round_names();

}  // namespace podium::mlperf
