// Durations and sizes as people write them: "90s", "2h30m", "72h", "7d"; "512MB", "80GiB".
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace podium {

// Far longer than anything waits or runs, and so short that a time plus several of these does not overflow.
inline constexpr std::chrono::milliseconds kLongestDuration = std::chrono::days(36'500);

// Units ms, s, m, h, d, each at most once, from large to small. Nothing for other texts or for more than
// kLongestDuration.
std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);

// The shortest form that parse_duration reads back exactly: 90s -> "1m30s".
std::string format_duration(std::chrono::milliseconds duration);

// Units B, kB, MB, GB, TB (powers of 1000) and KiB, MiB, GiB, TiB (powers of 1024).
std::optional<std::int64_t> parse_size(std::string_view text);

}  // namespace podium
