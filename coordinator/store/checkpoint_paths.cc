#include "coordinator/store/checkpoint_paths.h"

#include <charconv>
#include <filesystem>

namespace podium {

std::optional<JobId> job_of_checkpoints(const std::string& path, std::string_view folder) {
  // Absolute, or relative to a folder of the node.
  const std::string normal = "/" + std::filesystem::path(path).lexically_normal().string() + "/";
  const std::string before = "/" + std::string(folder) + "/";
  for (std::size_t at = normal.find(before); at != std::string::npos; at = normal.find(before, at + 1)) {
    const char* const end = normal.data() + normal.size();
    JobId job;
    const auto [rest, error] = std::from_chars(normal.data() + at + before.size(), end, job.value);
    if (error == std::errc{} && std::string_view(rest, end).starts_with("/checkpoints/")) return job;
  }
  return std::nullopt;
}

}  // namespace podium
