#include "worker/commands/local_run.h"

#include <spdlog/fmt/fmt.h>

#include "common/base/file.h"
#include "common/model/launch.h"
#include "worker/commands/output.h"

namespace podium {

namespace fs = std::filesystem;

std::vector<fs::path> write_launches(const LocalRun& run, const LocalMeeting& meeting) {
  Launch launch;
  launch.name = run.spec.name;
  launch.spec = run.spec;
  launch.world_size = launch.local_world_size = run.spec.resources.devices;
  launch.task.attempt.number = 1;
  launch.node = NodeId{"local"};
  if (!run.spec.serve) launch.secret = meeting.secret;  // a service of this machine alone needs no token
  launch.master_port = meeting.port;
  launch.threads = run.threads;
  launch.device_kind = run.spec.resources.kind;
  launch.data_folder = fs::absolute(run.data_folder);
  launch.checkpoint_folder = fs::absolute(run.out_folder / "checkpoints");
  std::vector<fs::path> paths;
  for (int rank = 0; rank < run.spec.resources.devices; ++rank) {
    const fs::path folder = fs::absolute(run.out_folder / ("rank-" + std::to_string(rank)));
    fs::create_directories(folder);
    launch.task.rank = launch.local_rank = launch.device_index = rank;
    launch.events_path = folder / "events.jsonl";
    paths.push_back(folder / "launch.json");
    write_file_atomic(paths.back(), to_json(launch).dump(2), 0600);
  }
  return paths;
}

int run_locally(const LocalRun& run) {
  std::vector<std::vector<std::string>> arguments;
  const LocalMeeting meeting = choose_local_meeting();
  if (run.spec.serve) {
    print_output(fmt::format("http://127.0.0.1:{}/v1/models/{}\n", meeting.port, run.spec.name));
    flush_output();
  }
  for (const fs::path& launch : write_launches(run, meeting)) arguments.push_back({"run", launch.string()});
  return run_gang(run.program, arguments);
}

}  // namespace podium
