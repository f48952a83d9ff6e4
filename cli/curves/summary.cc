#include "cli/curves/summary.h"

#include <spdlog/fmt/fmt.h>
#include <xxhash.h>

#include <algorithm>
#include <bit>

#include "cli/curves/wire.h"

namespace podium::cli {

void CurveSummary::Free::operator()(XXH3_state_s* state) const { XXH3_freeState(state); }

CurveSummary::CurveSummary() : hash_(XXH3_createState()) { XXH3_128bits_reset(hash_.get()); }

void CurveSummary::add(const std::string& metric, const CurvePoint& point) {
  ++points_;
  ++metrics_[metric];
  first_ms_ = std::min(first_ms_, point.time_ms);
  last_ms_ = std::max(last_ms_, point.time_ms);
  std::string bytes;
  append_little_endian(bytes, metric.size(), 8);
  bytes += metric;
  append_little_endian(bytes, static_cast<std::uint64_t>(point.step), 8);
  append_little_endian(bytes, static_cast<std::uint64_t>(point.time_ms), 8);
  append_little_endian(bytes, std::bit_cast<std::uint64_t>(point.value), 8);
  XXH3_128bits_update(hash_.get(), bytes.data(), bytes.size());
}

std::string CurveSummary::hash() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(hash_.get());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace podium::cli
