// What the agent knows of the tasks on its node; `reconcile` compares it with the orders. A task is in the
// table from before its process starts until it is forgotten, so that it is never started twice.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/core/fence_look.h"
#include "common/base/id.h"
#include "common/base/time.h"
#include "common/model/sync.h"

namespace podium {

// How far the agent has gone in stopping a task; it only advances.
//
//   none → terminating (told to leave) → killing (podium-shim was told to kill it) → destroying (the agent
//   did)
//
enum class Stopping { none, terminating, killing, destroying };

struct Process {
  TaskState state = TaskState::starting;
  std::string device_kind;
  int device_index = 0;
  std::vector<int> more_devices;  // that it drives as well
  Stopping stopping = Stopping::none;
  Time next_at{};  // when terminating or killing: the next of these is due
  Time granted{};  // until when the previous agent let it run
  // By when it is killed: as the first stop signal of this or an earlier agent had it. It never moves.
  std::optional<Time> kill_by = {};
  bool delivered = false;  // when exited: the coordinator has every byte of the task's files
};

struct ProcessTable {
  std::map<TaskId, Process> processes;
  std::map<JobId, std::int32_t>
      forgotten;                // the highest attempt of a job whose tasks are no longer in the table
  std::set<int> occupied_gpus;  // whose memory is not known to be free: no task starts on them
  FenceLooks fences;            // the newest looks at the shared fences of the jobs here
  // For tasks that need code, and inputs: none where they are there, else the exit of a task that cannot have
  // them.
  std::map<TaskId, std::optional<TaskExit>> code, inputs;
  Time last_sync{};      // when the report was sent that was answered last, on the clock of `now`
  bool leaving = false;  // the agent stops, and its tasks with it
};

}  // namespace podium
