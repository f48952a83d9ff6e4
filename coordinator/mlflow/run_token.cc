#include "coordinator/mlflow/run_token.h"

#include <charconv>

#include "common/net/token.h"
#include "coordinator/mlflow/run_id.h"

namespace podium::mlflow {
namespace {

constexpr std::string_view kForm = "podium-run-";

}  // namespace

std::string run_token(JobId job, std::string_view cluster, std::string_view key) {
  return std::string(kForm) + to_string(job) + "-" + hmac_sha256(key, "run " + run_id_of(job, cluster));
}

std::optional<JobId> job_of_token(std::string_view token, std::string_view cluster, std::string_view key) {
  if (!token.starts_with(kForm)) return std::nullopt;
  JobId job;
  const char* const digits = token.data() + kForm.size();
  const auto [end, error] = std::from_chars(digits, token.data() + token.size(), job.value);
  if (error != std::errc() || job.value < 1) return std::nullopt;
  if (!equal_in_constant_time(token, run_token(job, cluster, key))) return std::nullopt;
  return job;
}

}  // namespace podium::mlflow
