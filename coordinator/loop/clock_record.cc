#include "coordinator/loop/clock_record.h"

#include <nlohmann/json.hpp>

#include "common/base/file.h"

namespace podium {
namespace {

using nlohmann::json;

constexpr Duration kStep = std::chrono::seconds(1);
constexpr Duration kWorthKeeping = std::chrono::milliseconds(100);

std::optional<Duration> read_kept(const std::filesystem::path& path, const std::string& boot) {
  if (!std::filesystem::exists(path)) return std::nullopt;
  const json kept = json::parse(read_file(path), nullptr, false);
  if (!kept.is_object() || kept.value("boot", json()) != boot) return std::nullopt;
  const json ahead = kept.value("ahead_ms", json());
  return ahead.is_number_integer() ? std::optional(Duration(ahead.get<std::int64_t>())) : std::nullopt;
}

}  // namespace

ClockRecord::ClockRecord(const std::filesystem::path& home, std::string boot)
    : path_(home / "clock.json"), boot_(std::move(boot)), kept_(read_kept(path_, boot_)) {}

std::optional<Duration> ClockRecord::step(Duration ahead) const {
  if (!kept_ || std::chrono::abs(ahead - *kept_) < kStep) return std::nullopt;
  return ahead - *kept_;
}

void ClockRecord::keep(Duration ahead) {
  if (kept_ && std::chrono::abs(ahead - *kept_) < kWorthKeeping) return;
  write_file_atomic(path_, json{{"boot", boot_}, {"ahead_ms", ahead.count()}}.dump() + "\n");
  kept_ = ahead;
}

}  // namespace podium
