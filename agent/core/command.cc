#include "agent/core/command.h"

#include <algorithm>
#include <array>

namespace podium {
namespace {

constexpr std::array<std::string_view, 10> kKeptNames{
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TMPDIR", "LD_LIBRARY_PATH", "LANGUAGE"};
constexpr std::array<std::string_view, 4> kKeptPrefixes{"LC_", "NCCL_", "GLOO_", "CUDA_CACHE_"};

// The variables torch.distributed, torchrun's scripts and Megatron read.
void add_rendezvous(std::vector<std::string>& out, const Launch& launch, const TaskPaths& paths) {
  const auto number = [](auto value) { return std::to_string(value); };
  const std::string rank = number(launch.task.rank);
  const std::string world = number(launch.world_size);
  const std::initializer_list<std::pair<const char*, std::string>> variables{
      {"RANK", rank},
      {"WORLD_SIZE", world},
      {"LOCAL_RANK", number(launch.local_rank)},
      {"LOCAL_WORLD_SIZE", number(launch.local_world_size)},
      {"GROUP_RANK", number(launch.node_rank)},
      {"GROUP_WORLD_SIZE", number(launch.nodes)},
      {"ROLE_RANK", rank},
      {"ROLE_WORLD_SIZE", world},
      {"ROLE_NAME", "default"},
      {"MASTER_ADDR", launch.master_address},
      {"MASTER_PORT", number(launch.master_port)},
      {"TORCHELASTIC_RESTART_COUNT", number(launch.task.attempt.number - 1)},
      {"TORCHELASTIC_MAX_RESTARTS", number(launch.spec.max_restarts)},
      {"TORCHELASTIC_RUN_ID", to_string(launch.task.attempt)},
      {"TORCHELASTIC_ERROR_FILE", paths.folder + "/error.json"}};
  for (const auto& [name, value] : variables) out.push_back(std::string(name) + "=" + value);
}

void add_podium(std::vector<std::string>& out, const Launch& launch, const TaskPaths& paths) {
  const std::initializer_list<std::pair<const char*, std::string>> variables{
      {"JOB", to_string(launch.task.attempt.job)},
      {"JOB_NAME", launch.name},
      {"ATTEMPT", std::to_string(launch.task.attempt.number)},
      {"NODE", launch.node.value},
      {"TASK_FOLDER", paths.folder},
      {"LAUNCH", paths.launch},
      {"EVENTS", paths.events},
      {"DATA", paths.data},
      {"CHECKPOINTS", paths.checkpoints}};
  for (const auto& [name, value] : variables) out.push_back("PODIUM_" + std::string(name) + "=" + value);
  if (!paths.resume.empty()) out.push_back("PODIUM_RESUME=" + paths.resume);
}

// LOCAL_RANK indexes into CUDA_VISIBLE_DEVICES. By uuid: CUDA leaves out a GPU that has fallen off the bus,
// and the indexes after it would mean other devices than NVML's. By index, NVML's is the order on the PCI
// bus.
void add_devices(std::vector<std::string>& out, const Start& start, const TaskPaths& paths,
                 const std::map<int, std::string>& gpus) {
  if (start.launch.device_kind != "gpu") {
    out.push_back("CUDA_VISIBLE_DEVICES=");
    return;
  }
  std::string devices;
  const bool by_uuid = std::all_of(start.visible_devices.begin(), start.visible_devices.end(),
                                   [&](int index) { return gpus.contains(index); });
  for (const int index : start.visible_devices)
    devices += (devices.empty() ? "" : ",") + (by_uuid ? gpus.at(index) : std::to_string(index));
  out.push_back("CUDA_DEVICE_ORDER=PCI_BUS_ID");
  out.push_back("CUDA_VISIBLE_DEVICES=" + devices);
  out.push_back("TORCH_NCCL_TRACE_BUFFER_SIZE=2000");
  out.push_back("TORCH_NCCL_DUMP_ON_TIMEOUT=1");
  out.push_back("TORCH_FR_DUMP_TEMP_FILE=" + paths.folder + "/nccl_trace_rank_");
}

bool has_nul(const std::string& text) { return text.find('\0') != std::string::npos; }

}  // namespace

Launch complete_launch(const Launch& order, const TaskPaths& paths) {
  Launch launch = order;
  launch.data_folder = paths.data;
  launch.checkpoint_folder = paths.checkpoints;
  launch.resume_folder = paths.resume;
  launch.events_path = paths.events;
  return launch;
}

bool is_kept(std::string_view variable) {
  const std::string_view name = variable.substr(0, variable.find('='));
  return std::find(kKeptNames.begin(), kKeptNames.end(), name) != kKeptNames.end() ||
         std::any_of(kKeptPrefixes.begin(), kKeptPrefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

Result<Command> make_command(const Start& start, const TaskPaths& paths,
                             const std::vector<std::string>& inherited,
                             const std::map<int, std::string>& gpus) {
  const Launch& launch = start.launch;
  Command command;
  command.arguments = launch.spec.command;
  if (command.arguments.empty()) command.arguments = {paths.worker, "run", paths.launch};

  std::copy_if(inherited.begin(), inherited.end(), std::back_inserter(command.environment), is_kept);
  add_rendezvous(command.environment, launch, paths);
  add_podium(command.environment, launch, paths);
  add_devices(command.environment, start, paths, gpus);
  if (launch.threads > 0) command.environment.push_back("OMP_NUM_THREADS=" + std::to_string(launch.threads));

  if (command.arguments.front().empty())
    return Error{ErrorCode::invalid, "the command's program must not be empty", "/command/0"};
  if (std::any_of(command.arguments.begin(), command.arguments.end(), has_nul))
    return Error{ErrorCode::invalid, "the command must not contain NUL characters", "/command"};
  if (std::any_of(command.environment.begin(), command.environment.end(), has_nul))
    return Error{ErrorCode::invalid, "the job's name must not contain NUL characters", "/name"};
  return command;
}

}  // namespace podium
