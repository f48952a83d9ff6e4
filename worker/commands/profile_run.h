// Trains a few steps of a job to see where its time and memory go. All ranks run as processes of this
// machine, each with a profiler.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "common/model/launch.h"
#include "worker/commands/local_run.h"
#include "worker/tensor/profiler.h"

namespace podium {

struct ProfileRun {
  LocalRun local;  // out_folder is ignored: nothing but the profile is kept
  int warmup = 3;  // first steps, which are left out: they compile products and grow arenas
  int steps = 5;
};

// What one rank measured.
struct RankProfile {
  int steps = 0;
  double seconds = 0;                          // within steps
  std::vector<ProfileRow> rows;                // within steps, see summarise()
  std::map<std::string, std::int64_t> memory;  // bytes by kind; what no kind explains is "other"
  std::int64_t peak_bytes = 0;                 // the process's largest resident size
};

nlohmann::json to_json(const RankProfile& profile);
RankProfile rank_profile_from_json(const nlohmann::json& json);

struct ProfileResult {
  int exit_code = 0;               // of the rank that failed first; then nothing else is filled in
  std::vector<RankProfile> ranks;  // rank 0 first
};

// Starts the ranks and waits. Writes a file for Perfetto to `trace` unless that is empty.
ProfileResult run_profile(const ProfileRun& run, const std::filesystem::path& trace);

// Runs one rank, which run_profile() has started. Writes <folder>/profile.json and <folder>/trace.json beside
// its launch.
WorkerExit profile_rank(const std::filesystem::path& launch, int warmup, const std::atomic<bool>& stop);

}  // namespace podium
