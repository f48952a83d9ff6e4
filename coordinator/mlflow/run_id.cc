#include "coordinator/mlflow/run_id.h"

#include <algorithm>
#include <charconv>

#include "common/base/check.h"

namespace podium::mlflow {
namespace {

constexpr std::size_t kHalf = 16;  // hex digits of 64 bits

bool is_lower_hex(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

std::string_view identity_of(std::string_view cluster) {
  const std::string_view identity = cluster.substr(0, kHalf);
  PODIUM_CHECK(identity.size() == kHalf && is_lower_hex(identity), "a cluster's identity must be hex digits");
  return identity;
}

}  // namespace

std::string run_id_of(JobId job, std::string_view cluster) {
  PODIUM_CHECK(job.value >= 1, "jobs are numbered from 1");
  char digits[kHalf];
  char* const end = std::to_chars(digits, digits + kHalf, job.value, 16).ptr;
  std::string id(identity_of(cluster));
  id.append(kHalf - static_cast<std::size_t>(end - digits), '0');
  return id.append(+digits, end);
}

std::optional<JobId> job_of(std::string_view run_id, std::string_view cluster) {
  if (run_id.size() != 2 * kHalf || !is_lower_hex(run_id) || !run_id.starts_with(identity_of(cluster)))
    return std::nullopt;
  JobId job;
  const std::string_view digits = run_id.substr(kHalf);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), job.value, 16);
  if (error != std::errc() || job.value < 1) return std::nullopt;
  return job;
}

}  // namespace podium::mlflow
