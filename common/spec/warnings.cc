#include "common/spec/warnings.h"

#include <fnmatch.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <filesystem>

namespace podium {
namespace {

std::string normal(const std::string& path) { return std::filesystem::path(path).lexically_normal(); }

// Says which pattern of data.train finds the held-out text, or nothing.
std::string held_out_training(const JobSpec& job) {
  if (job.evaluate.every <= 0 || job.evaluate.data.empty()) return "";
  for (const std::string& pattern : job.data.train)
    if (normal(pattern) == normal(job.evaluate.data) ||
        ::fnmatch(normal(pattern).c_str(), normal(job.evaluate.data).c_str(), FNM_PATHNAME | FNM_PERIOD) == 0)
      return fmt::format(
          "evaluate.data ({}) is also found by data.train ({}), so the job would train on its "
          "held-out text; keep it where no pattern of data.train finds it",
          job.evaluate.data, pattern);
  return "";
}

}  // namespace

std::vector<std::string> warnings_of(const std::vector<JobSpec>& jobs) {
  std::vector<std::string> warnings;
  for (const JobSpec& job : jobs) {
    const std::string warning = held_out_training(job);
    if (!warning.empty() && std::ranges::find(warnings, warning) == warnings.end())
      warnings.push_back(warning);
  }
  return warnings;
}

}  // namespace podium
