#include "worker/commands/profile_run.h"

#include <sys/resource.h>

#include <algorithm>
#include <string>
#include <utility>

#include "common/base/file.h"
#include "common/model/launch.h"
#include "worker/commands/gang.h"
#include "worker/commands/run.h"
#include "worker/commands/temporary_folder.h"

namespace podium {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr char kProfileFile[] = "profile.json";
constexpr char kTraceFile[] = "trace.json";
constexpr std::string_view kStep = "step";  // the trainer's phase of one batch

// So many steps of the first phase and nothing beside them.
JobSpec only_steps(JobSpec spec, std::int64_t steps) {
  spec.training.phases.clear();
  spec.training.schedule.steps = steps;
  spec.training.schedule.warmup = 0;
  spec.training.log_every = steps;
  spec.evaluate = {};
  spec.checkpoint.every = 0;
  spec.target.reset();
  return spec;
}

RankProfile measure(const Profiler& profiler, const std::vector<ProfileEvent>& events) {
  RankProfile profile;
  for (const ProfileEvent& event : events) {
    if (event.parent >= 0) continue;
    profile.steps += 1;
    profile.seconds += static_cast<double>(event.duration_ns) * 1e-9;
  }
  profile.rows = summarise(events);
  profile.memory = profiler.memory();
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  profile.peak_bytes = std::int64_t{usage.ru_maxrss} * 1024;
  std::int64_t explained = 0;
  for (const auto& [kind, bytes] : profile.memory) explained += bytes;
  profile.memory["other"] = std::max(std::int64_t{0}, profile.peak_bytes - explained);
  return profile;
}

// One file of all ranks' events.
void merge_traces(const std::vector<fs::path>& launches, const fs::path& out) {
  json merged = json::array();
  for (const fs::path& launch : launches) {
    json trace = json::parse(read_file(launch.parent_path() / kTraceFile));
    for (json& event : trace.at("traceEvents")) merged.push_back(std::move(event));
  }
  write_file_atomic(out, json{{"traceEvents", std::move(merged)}, {"displayTimeUnit", "ms"}}.dump());
}

}  // namespace

json to_json(const RankProfile& profile) {
  json rows = json::array();
  for (const ProfileRow& row : profile.rows)
    rows.push_back({{"phase", row.phase},
                    {"op", row.op},
                    {"calls", row.calls},
                    {"seconds", row.seconds},
                    {"flops", row.flops},
                    {"bytes", row.bytes}});
  return {{"steps", profile.steps},
          {"seconds", profile.seconds},
          {"rows", std::move(rows)},
          {"memory_bytes", profile.memory},
          {"peak_rss_bytes", profile.peak_bytes}};
}

RankProfile rank_profile_from_json(const json& text) {
  RankProfile profile{.steps = text.at("steps"), .seconds = text.at("seconds")};
  for (const json& row : text.at("rows"))
    profile.rows.push_back({row.at("phase"), row.at("op"), row.at("calls"), row.at("seconds"),
                            row.at("flops"), row.at("bytes")});
  profile.memory = text.at("memory_bytes").get<std::map<std::string, std::int64_t>>();
  profile.peak_bytes = text.at("peak_rss_bytes");
  return profile;
}

ProfileResult run_profile(const ProfileRun& run, const fs::path& trace) {
  const TemporaryFolder folder;
  LocalRun local = run.local;
  local.out_folder = folder.path();
  local.spec = only_steps(local.spec, run.warmup + run.steps);
  const std::vector<fs::path> launches = write_launches(local, choose_local_meeting());
  std::vector<std::vector<std::string>> arguments;
  for (const fs::path& launch : launches)
    arguments.push_back({"profile", launch.string(), "--as-rank", "--warmup=" + std::to_string(run.warmup)});
  ProfileResult result{.exit_code = run_gang(local.program, arguments)};
  if (result.exit_code != 0) return result;
  for (const fs::path& launch : launches)
    result.ranks.push_back(
        rank_profile_from_json(json::parse(read_file(launch.parent_path() / kProfileFile))));
  if (!trace.empty()) merge_traces(launches, trace);
  return result;
}

WorkerExit profile_rank(const fs::path& path, int warmup, const std::atomic<bool>& stop) {
  const Launch launch = launch_from_json(json::parse(read_file(path)));
  Profiler profiler;
  const WorkerExit exit = run_worker(launch, {}, stop, &profiler);
  if (exit != WorkerExit::done) return exit;
  // Before the steps to be measured come the warm-up and, in fp16, the batches that find the loss scale.
  const auto batches = std::ranges::count_if(profiler.events(), [](const ProfileEvent& event) {
    return event.parent < 0 && event.is_phase && event.name == kStep;
  });
  const std::int64_t measured = launch.spec.training.schedule.steps - warmup;
  const std::vector<ProfileEvent> events =
      select_phases(profiler.events(), kStep, static_cast<int>(batches - measured));
  write_file_atomic(path.parent_path() / kProfileFile, to_json(measure(profiler, events)).dump());
  write_file_atomic(path.parent_path() / kTraceFile,
                    trace_json(events, launch.task.rank, "rank " + std::to_string(launch.task.rank)));
  return exit;
}

}  // namespace podium
