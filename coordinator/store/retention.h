// How much is kept, and how long.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/time.h"
#include "common/base/units.h"

namespace podium {

struct LogLimits {
  std::int64_t one = 64'000'000;      // bytes of one task's stdout or stderr
  std::int64_t all = 10'000'000'000;  // bytes of all logs
};

// Data of a job that is kept for a time after its end. Everything else stays: the job, its results, its
// ledger, records, and the count, ends and extremes of its curves.
enum class Kept {
  points,      // all points of a curve; afterwards about kPointsKept of them stay
  history,     // what happened, line by line
  logs,        // the output of its tasks
  checkpoints  // on the nodes: due ones are listed, and Podium deletes none
};

inline constexpr std::array kAllKept{Kept::points, Kept::history, Kept::logs, Kept::checkpoints};

template <class T>
struct PerKept {
  std::array<T, kAllKept.size()> values{};

  T& operator[](Kept kept) { return values[static_cast<std::size_t>(kept)]; }
  const T& operator[](Kept kept) const { return values[static_cast<std::size_t>(kept)]; }
  bool operator==(const PerKept&) const = default;
};

inline constexpr PerKept<std::string_view> kKeptNames{{"points", "history", "logs", "checkpoints"}};

using Retention = PerKept<Duration>;

inline constexpr Duration kForever = kLongestDuration;
inline constexpr Retention kUsualRetention{
    {std::chrono::days(90), std::chrono::days(365), std::chrono::days(90), kForever}};

// For the experiments of a name; an absent value is that of all other experiments.
using RetentionRule = PerKept<std::optional<Duration>>;

struct RetentionChange {
  std::string experiment;
  bool remove = false;
  PerKept<std::optional<std::optional<Duration>>> to =
      {};  // none: unchanged; nullopt within: as for all others
};

inline constexpr int kPointsKept = 2000;
inline constexpr int kThinnedFrom =
    kPointsKept + kPointsKept / 10;  // points; shorter curves stay as they are

}  // namespace podium
