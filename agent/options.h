// The command line of podium-agent, read and checked.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "agent/outputs/collect.h"
#include "agent/staging/room.h"
#include "common/base/error.h"
#include "common/base/time.h"
#include "common/model/node_preset.h"
#include "common/net/url.h"

namespace podium {

struct AgentOptions {
  std::string name;
  Url coordinator;
  std::filesystem::path powercap = "/sys/class/powercap";
  std::filesystem::path token_file;
  std::string ca_file;
  std::filesystem::path home;
  std::filesystem::path shared;
  std::filesystem::path data;
  std::filesystem::path worker;
  int cpu_slots = 1;
  int threads_per_slot = 0;  // 0: an equal share
  int artificial_gpus = 0;
  std::string address;  // "": found by find_address
  std::map<std::string, std::string> labels;
  const NodePreset* machine = nullptr;  // nullptr: none of the known ones
  std::int64_t spool_limit = 0;         // bytes
  std::int64_t log_limit = 0;           // bytes
  std::filesystem::path inputs;         // "": in the home
  StoreLimits inputs_limits;
  OutputLimits output_limits;
  std::string log_level;
  bool stop_tasks_on_exit = false;
  bool join = false;                  // in an allocation of Slurm, with which it leaves
  std::optional<Duration> alone_for;  // how long it stays without tasks and without the coordinator
  std::optional<Duration> lent_for;   // the allocation, to this cluster
};

// What main does: run with the options, or end with this exit code because help or a mistake was printed.
struct ParsedOptions {
  AgentOptions options;
  std::optional<int> exit_code;
};

ParsedOptions parse_options(int count, char** arguments);

// All mistakes in the options' meaning. Makes the paths absolute.
Errors settle(AgentOptions& options);

// This machine's address on the route to the coordinator. Throws std::system_error where there is none.
std::string find_address(const Url& coordinator);

}  // namespace podium
