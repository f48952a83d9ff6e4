// The program, arguments and environment of a task's process, as agent/README.md lists them. Pure. The
// environment starts empty: of the agent's own variables only those of is_kept reach a task.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "agent/core/container.h"
#include "agent/core/reconcile.h"
#include "common/base/error.h"

namespace podium {

// Where MLflow's clients in commands find the coordinator.
struct TrackingServer {
  std::string address;  // as the agent reaches it
  std::string ca_file;  // of the authority that its certificate is of; "" for the system's
};

// The agent's part of a Launch.
struct TaskPaths {
  std::string folder;            // of the task
  std::string launch;            // launch.json in it
  std::string events;            // events.jsonl in it
  std::string data;              // the node's data folder
  std::string checkpoints;       // of the job
  std::string resume;            // of the job that its spec resumes; "" for none
  std::string worker;            // podium-worker
  std::string code = {};         // this task's copy of the job's code; "" for none
  std::string inputs = {};       // the folder of its links to the inputs on this node; "" for none
  std::string init = {};         // checkpoints of the job whose weights its model takes; "" for none
  std::string input_store = {};  // the folder that those links lead to
  std::string address = {};      // of this node, as the others reach it
};

struct TaskCommand {
  std::vector<std::string> arguments;    // the program first; looked up in PATH when it has no slash
  std::vector<std::string> environment;  // NAME=value; PODIUM_WORKDIR is
  std::string folder;                    // where podium-shim starts it
  // In a container, the folder is one there, and podium-shim starts the runtime in the task's folder.
  bool contained = false;
  std::string at_end = {};  // what podium-shim runs once the command has ended: kAtEnd of shim_protocol.h
};

// What NCCL's flight recorder writes in the task's folder: this, and the rank.
inline constexpr char kTraceFiles[] = "nccl_trace_rank_";

// How a task says that its node has no torchrun, with exit code 127.
inline constexpr char kNoTorchrun[] = "launcher: torchrun: neither torchrun nor a python3 with torch";

// The launch of the order, completed with the agent's part: the content of launch.json.
Launch complete_launch(const Launch& order, const TaskPaths& paths);

// `inherited` is the agent's own environment; `gpus` the uuids of the node's GPUs by index, where known.
// A command whose spec names a tracking server of its own is told of no other.
// Fails where the spec's text cannot be passed to a process, and with not_found where the node lacks the
// means to run its container.
Result<TaskCommand> make_command(const StartTask& start, const TaskPaths& paths,
                                 const std::vector<std::string>& inherited,
                                 const std::map<int, std::string>& gpus = {},
                                 const TrackingServer& tracking = {}, const ContainerHost& containers = {});

// Whether tasks inherit a variable of the agent's environment: paths of programs and libraries, language, and
// the network settings of NCCL and Gloo.
bool is_kept(std::string_view variable);

}  // namespace podium
