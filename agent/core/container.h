// The command line that runs a task's program in a container (a spec's `container`), for each runtime. Pure:
// what the node has is an argument.
//
// Whatever the runtime, the program finds its folders at the same paths, its environment but for the node's
// own (PATH, HOME, …), the node's network and its /dev/shm; signals and exit codes are passed on; the image's
// entrypoint is not run. No value of a variable is on the command line, where everybody on the node could
// read it, but for those that the runtime itself would follow.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"
#include "common/model/program_spec.h"

namespace podium {

// What the node has for containers.
struct ContainerHost {
  std::map<std::string, std::string>
      runtimes;                           // those of kContainerRuntimes that were found, by absolute path
  std::string searched;                   // the folders in which they were looked for, as in PATH
  std::string user = "0:0";               // of the agent: UID:GID
  std::vector<std::string> limits;        // "nofile=1024:4096": the agent's own, of which it can give no more
  std::vector<std::string> device_files;  // beside the GPUs, as /dev/infiniband
  std::string images;                     // where enroot's imported images are kept
};

struct Mount {
  std::string source;
  std::string target;
  bool read_only = false;

  bool operator==(const Mount&) const = default;
};

// A program that is to run in a container: the command as it would run without one, and what becomes of it.
struct ContainedProgram {
  std::vector<std::string> arguments;
  std::map<std::string, std::string> variables;  // that the program is to have
  std::string workdir;
  ContainerSpec container;        // placeholders filled in
  std::vector<Mount> folders;     // of the task, beside the spec's own mounts
  std::vector<std::string> gpus;  // as the runtime names them: UUIDs, or indexes where those are unknown
  std::string name;               // of the container; no other on the node has it
  std::string task_folder;
  std::string data;  // where a relative path of an image begins
};

struct ContainerCommand {
  std::vector<std::string> arguments;
  std::map<std::string, std::string> variables;  // to add to the runtime's environment
  std::string at_end;  // what removes the container: see kAtEnd in agent/process/shim_protocol.h; "": nothing
};

// Fails with not_found where the node has no runtime that the image can run with.
Result<ContainerCommand> contain(const ContainedProgram& program, const ContainerHost& host);

// Whether a runtime follows a variable of this name itself: it is passed from the agent to the runtime, and
// not from the spec, whose value is the program's alone.
bool is_runtimes_own(std::string_view name);

}  // namespace podium
