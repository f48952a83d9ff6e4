#include "common/mlperf/round.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/check.h"

namespace podium::mlperf {
namespace {

constexpr std::array<RoundTraits, 10> kRounds{{{{0, 7}, "2020-07", true, false},
                                               {{1, 0}, "2021-06", true, false},
                                               {{1, 1}, "2021-12", true, false},
                                               {{2, 0}, "2022-06", true, false},
                                               {{2, 1}, "2022-11", true, false},
                                               {{3, 0}, "2023-06", true, true},
                                               {{3, 1}, "2023-11", true, true},
                                               {{4, 0}, "2024-06", true, true},
                                               {{4, 1}, "2024-11", true, true},
                                               {{5, 0}, "2025-06", true, false}}};

}  // namespace

std::string to_string(Round round) { return fmt::format("{}.{}", round.major, round.minor); }

std::optional<Round> find_round(std::string_view name) {
  if (name.starts_with('v')) name.remove_prefix(1);
  const auto found =
      std::ranges::find_if(kRounds, [&](const RoundTraits& each) { return to_string(each.round) == name; });
  return found == kRounds.end() ? std::nullopt : std::optional(found->round);
}

const RoundTraits& traits_of(Round round) {
  const auto found = std::ranges::find(kRounds, round, &RoundTraits::round);
  PODIUM_CHECK(found != kRounds.end(), "there is no such round");
  return *found;
}

std::span<const RoundTraits> rounds() { return kRounds; }

bool has(Round round, Benchmark benchmark) {
  const RoundTraits& traits = traits_of(round);
  return benchmark == Benchmark::bert ? traits.bert : traits.gpt3;
}

std::string round_names() {
  std::string names;
  for (const RoundTraits& each : kRounds) names += (names.empty() ? "" : ", ") + to_string(each.round);
  return names;
}

}  // namespace podium::mlperf
