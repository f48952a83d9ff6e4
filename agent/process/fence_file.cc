#include "agent/process/fence_file.h"

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "common/base/file.h"

namespace podium {
namespace {

using nlohmann::json;

// Orders come only as answers to this agent's own requests, so nothing as old as ten thousand jobs can still
// arrive.
constexpr std::size_t kMaxJobs = 10'000;

std::filesystem::path fences_path(const std::filesystem::path& home) { return home / "fences.json"; }

}  // namespace

Fences read_fences(const std::filesystem::path& home) {
  Fences fences;
  if (!std::filesystem::exists(fences_path(home))) return fences;
  try {
    const json in = json::parse(read_file(fences_path(home)));
    for (const json& entry : in.at("jobs")) fences[{entry.at(0).get<std::int64_t>()}] = entry.at(1);
  } catch (const json::exception& error) {
    throw std::runtime_error(
        fences_path(home).string() + " is damaged, and tells what this node has run: bring " +
        "it back, or move it away once no task of this node runs (" + error.what() + ")");
  }
  return fences;
}

void raise_fence(HomeRoom& room, Fences& fences, AttemptId attempt) {
  Fences raised = fences;
  std::int32_t& fence = raised[attempt.job];
  if (fence >= attempt.number) return;
  fence = attempt.number;
  while (raised.size() > kMaxJobs) raised.erase(raised.begin());
  json jobs = json::array();
  for (const auto& [job, number] : raised) jobs.push_back({job.value, number});
  room.write_file(fences_path(room.home()), json{{"version", 1}, {"jobs", std::move(jobs)}}.dump() + "\n");
  fences = std::move(raised);
}

}  // namespace podium
