// launch.json: all that a worker process is told, which the agent writes into the task's folder; and the exit
// codes of the worker. The worker also runs from a launch.json that was written by hand.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/base/id.h"
#include "common/base/time.h"
#include "common/model/spec.h"

namespace podium {

// What podium-worker's exit status means. Each class has its own retry rule in coordinator/core.
enum class WorkerExit : int {
  done = 0,             // finished
  bug = 1,              // an unexpected failure; retried
  bad_spec = 64,        // EX_USAGE: the job can never work as written; not retried
  bad_data = 65,        // EX_DATAERR: unreadable or malformed input; not retried
  disk_full = 73,       // EX_CANTCREAT: a file not written, or a checkpoint not read; retried after a pause
  peer_lost = 74,       // EX_IOERR: another rank vanished; retried, never the root cause
  address_in_use = 75,  // EX_TEMPFAIL: another has rank 0's port or the checkpoint folder; retried at once
  diverged = 76,        // the loss is not a number; not retried
  no_device = 77,       // the device or its driver is missing; retried elsewhere
  saved = 79,  // told to leave: saved and left, and goes on when it is started again; of programs, too
};

struct Launch {
  TaskId task;
  std::string name;  // of the job
  int world_size = 1;
  int local_rank = 0;
  int local_world_size = 1;
  int node_rank = 0;
  int nodes = 1;
  NodeId node;

  std::string master_address = "127.0.0.1";
  int master_port = 0;  // rank 0 listens here; unused when world_size is 1
  std::string secret;   // of this attempt: peers prove with it that they belong to it

  std::string device_kind = "cpu";  // cpu | gpu
  int device_index = 0;
  std::vector<int> more_devices;  // further devices, where one process drives all of the job's on its node
  int threads = 0;  // CPU threads for this process; 0: all the node has, shared by its local ranks

  JobSpec spec;

  // With which a command logs into the run that its job is to MLflow's clients; "" of other tasks.
  std::string run_id;
  std::string run_token;

  // Filled in by the agent, absolute.
  std::string data_folder;        // where relative data paths begin
  std::string checkpoint_folder;  // shared by all nodes of the job and by all its attempts
  std::string resume_folder;      // checkpoints of the job that the spec resumes, only read; "" for none
  std::string init_folder;        // the same of the job whose weights model.init takes
  std::string events_path;        // events.jsonl of this task

  Duration grace = kUsualGrace;  // from the stop signal to SIGKILL

  // Of programs: the newest checkpoint that the job has told of, by an attempt before; its path as told, ""
  // for none.
  std::string newest_checkpoint;
  std::int64_t newest_step = 0;
};

// The indices of all devices that the process drives.
std::vector<int> devices_of(const Launch& launch);

nlohmann::json to_json(const Launch& launch);
Launch launch_from_json(const nlohmann::json& json);

}  // namespace podium
