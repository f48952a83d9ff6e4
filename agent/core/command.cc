#include "agent/core/command.h"

#include <algorithm>
#include <array>
#include <optional>

#include "common/base/text.h"
#include "common/model/data_path.h"
#include "common/model/program.h"

namespace podium {
namespace {

constexpr std::array<std::string_view, 10> kKeptNames{
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TMPDIR", "LD_LIBRARY_PATH", "LANGUAGE"};
constexpr std::array<std::string_view, 4> kKeptPrefixes{"LC_", "NCCL_", "GLOO_", "CUDA_CACHE_"};

// NAME=value by name: what is set later replaces what was set before.
class Environment {
 public:
  void set(const std::string& name, const std::string& value) { values_[name] = value; }
  void take(const std::string& variable) {
    const std::size_t end = std::min(variable.find('='), variable.size());
    values_[variable.substr(0, end)] = end < variable.size() ? variable.substr(end + 1) : "";
  }
  std::optional<std::string> value(const std::string& name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? std::nullopt : std::optional(found->second);
  }
  std::vector<std::string> list() const {
    std::vector<std::string> out;
    for (const auto& [name, value] : values_) out.push_back(name + "=" + value);
    return out;
  }

 private:
  std::map<std::string, std::string> values_;
};

// The worker's folder last, so that a command may name podium-worker as it stands.
void add_worker_folder(Environment& out, const std::string& worker) {
  constexpr std::string_view kStandard = "/bin:/usr/bin";  // execvp's, where there is no PATH
  const std::string folder = worker.substr(0, worker.rfind('/'));
  const std::string path = out.value("PATH").value_or(std::string(kStandard));
  if ((":" + path + ":").find(":" + folder + ":") == std::string::npos) out.set("PATH", path + ":" + folder);
}

std::string number(auto value) { return std::to_string(value); }

// Of the job on this node, whether one process drives them or each has its own.
std::string node_devices(const StartTask& start) { return number(start.visible_devices.size()); }

// The variables torch.distributed, torchrun's scripts and Megatron read.
void add_rendezvous(Environment& out, const Launch& launch, const TaskPaths& paths) {
  const std::string rank = number(launch.task.rank);
  const std::string world = number(launch.world_size);
  out.set("RANK", rank);
  out.set("WORLD_SIZE", world);
  out.set("LOCAL_RANK", number(launch.local_rank));
  out.set("LOCAL_WORLD_SIZE", number(launch.local_world_size));
  out.set("GROUP_RANK", number(launch.node_rank));
  out.set("GROUP_WORLD_SIZE", number(launch.nodes));
  out.set("ROLE_RANK", rank);
  out.set("ROLE_WORLD_SIZE", world);
  out.set("ROLE_NAME", "default");
  out.set("MASTER_ADDR", launch.master_address);
  out.set("MASTER_PORT", number(launch.master_port));
  out.set("TORCHELASTIC_RESTART_COUNT", number(launch.task.attempt.number - 1));
  out.set("TORCHELASTIC_MAX_RESTARTS", number(launch.spec.max_restarts));
  out.set("TORCHELASTIC_RUN_ID", to_string(launch.task.attempt));
  out.set("TORCHELASTIC_ERROR_FILE", paths.folder + "/error.json");
}

// What torchrun takes for its options where they are not written.
void add_launcher(Environment& out, const StartTask& start) {
  const Launch& launch = start.launch;
  if (launch.spec.processes != Processes::node) return;
  out.set("PET_NNODES", number(launch.nodes));
  out.set("PET_NODE_RANK", number(launch.node_rank));
  out.set("PET_NPROC_PER_NODE", node_devices(start));
  out.set("PET_MASTER_ADDR", launch.master_address);
  out.set("PET_MASTER_PORT", number(launch.master_port));
  out.set("PET_RDZV_ID", to_string(launch.task.attempt));
  out.set("PET_MAX_RESTARTS", "0");  // a restart is Podium's, of the whole gang
  if (launch.spec.launcher != Launcher::torchrun) return;
  out.set("PET_RDZV_BACKEND", "c10d");
  out.set("PET_RDZV_ENDPOINT", launch.master_address + ":" + number(launch.master_port));
}

// Starts torchrun with the arguments, by its own name or, where only Python knows it, as a module. The
// program's PATH decides, in its container where it has one.
std::vector<std::string> torchrun() {
  constexpr const char* kScript = R"sh(command -v torchrun >/dev/null && exec torchrun "$@"
if command -v python3 >/dev/null &&
  python3 -c 'import importlib.util as u, sys; sys.exit(not u.find_spec("torch"))'
then exec python3 -m torch.distributed.run "$@"
fi
echo "launcher: torchrun: neither torchrun nor a python3 with torch is in its PATH ($PATH)" >&2
exit 127)sh";
  return {"/bin/sh", "-c", kScript, "torchrun"};
}

void add_podium(Environment& out, const StartTask& start, const TaskPaths& paths) {
  const Launch& launch = start.launch;
  out.set("PODIUM_JOB", to_string(launch.task.attempt.job));
  out.set("PODIUM_JOB_NAME", launch.name);
  out.set("PODIUM_ATTEMPT", number(launch.task.attempt.number));
  out.set("PODIUM_NODE", launch.node.value);
  out.set("PODIUM_NODE_DEVICES", node_devices(start));
  out.set("PODIUM_TASK_FOLDER", paths.folder);
  out.set("PODIUM_LAUNCH", paths.launch);
  out.set("PODIUM_EVENTS", paths.events);
  out.set("PODIUM_DATA", paths.data);
  out.set("PODIUM_CHECKPOINTS", paths.checkpoints);
  if (!paths.resume.empty()) out.set("PODIUM_RESUME", paths.resume);
  if (!paths.code.empty()) out.set("PODIUM_CODE", paths.code);
}

// LOCAL_RANK indexes into CUDA_VISIBLE_DEVICES. By uuid: CUDA leaves out a GPU that has fallen off the bus,
// and the indexes after it would mean other devices than NVML's. By index, NVML's is the order on the PCI
// bus.
void add_devices(Environment& out, const StartTask& start, const TaskPaths& paths,
                 const std::map<int, std::string>& gpus) {
  if (start.launch.device_kind != "gpu") return out.set("CUDA_VISIBLE_DEVICES", "");
  std::string devices;
  const bool by_uuid = std::all_of(start.visible_devices.begin(), start.visible_devices.end(),
                                   [&](int index) { return gpus.contains(index); });
  for (const int index : start.visible_devices)
    devices += (devices.empty() ? "" : ",") + (by_uuid ? gpus.at(index) : number(index));
  out.set("CUDA_DEVICE_ORDER", "PCI_BUS_ID");
  out.set("CUDA_VISIBLE_DEVICES", devices);
  out.set("TORCH_NCCL_TRACE_BUFFER_SIZE", "2000");
  out.set("TORCH_NCCL_DUMP_ON_TIMEOUT", "1");
  out.set("TORCH_FR_DUMP_TEMP_FILE", paths.folder + "/nccl_trace_rank_");
  out.set("TORCH_NCCL_DEBUG_INFO_TEMP_FILE", paths.folder + "/nccl_trace_rank_");  // its name before 2.6
}

// Before the spec's own variables, which may say otherwise: with another server, the token is none of its
// business.
void add_tracking(Environment& out, const Launch& launch, const TrackingServer& server) {
  if (launch.run_id.empty() || server.address.empty() || launch.spec.env.contains("MLFLOW_TRACKING_URI"))
    return;
  out.set("MLFLOW_TRACKING_URI", server.address);
  out.set("MLFLOW_TRACKING_TOKEN", launch.run_token);
  out.set("MLFLOW_RUN_ID", launch.run_id);
  if (!server.ca_file.empty()) out.set("MLFLOW_TRACKING_SERVER_CERT_PATH", server.ca_file);
}

void add_parameters(Environment& out, const JobSpec& spec) {
  if (spec.parameters.empty()) return;
  for (const auto& [name, value] : spec.parameters) out.set(parameter_variable(name), parameter_text(value));
  out.set("PODIUM_PARAMETERS", nlohmann::json(spec.parameters).dump());
}

// What the {placeholders} of the spec's texts stand for: kRunPlaceholders and the parameters.
std::map<std::string, std::string> placeholder_values(const StartTask& start, const TaskPaths& paths) {
  const Launch& launch = start.launch;
  std::map<std::string, std::string> values{{"job", to_string(launch.task.attempt.job)},
                                            {"job_name", launch.name},
                                            {"attempt", number(launch.task.attempt.number)},
                                            {"rank", number(launch.task.rank)},
                                            {"world_size", number(launch.world_size)},
                                            {"local_rank", number(launch.local_rank)},
                                            {"local_world_size", number(launch.local_world_size)},
                                            {"node_rank", number(launch.node_rank)},
                                            {"nodes", number(launch.nodes)},
                                            {"node_devices", node_devices(start)},
                                            {"master_addr", launch.master_address},
                                            {"master_port", number(launch.master_port)},
                                            {"data", paths.data},
                                            {"checkpoints", paths.checkpoints},
                                            {"resume", paths.resume},
                                            {"task_folder", paths.folder}};
  for (const auto& [name, value] : launch.spec.parameters) values.emplace(name, parameter_text(value));
  return values;
}

// Where the command starts: the spec's workdir, within the code where there is some.
Result<std::string> working_folder(const std::string& workdir, const TaskPaths& paths) {
  const std::string& base = paths.code.empty() ? paths.folder : paths.code;
  if (workdir.empty()) return base;
  if (workdir.front() == '/') return workdir;
  if (paths.code.empty())
    return Error{ErrorCode::invalid,
                 "workdir (" + workdir + ") is no absolute path, and the spec has no code", "/workdir"};
  if (leads_out_of_folder(workdir))
    return Error{ErrorCode::invalid, "workdir (" + workdir + ") leads out of the code's folder", "/workdir"};
  return paths.code + "/" + workdir;
}

// Linux takes no longer text of a program's (MAX_ARG_STRLEN), and of all together at least this.
constexpr std::size_t kLongestText = (128 << 10) - 1;
constexpr std::size_t kMostText = 1 << 20;

// Why Linux would not start it; nothing where it would.
std::optional<Error> too_long(const TaskCommand& command) {
  std::size_t all = 0;
  for (const auto* texts : {&command.arguments, &command.environment})
    for (const std::string& text : *texts) {
      all += text.size() + 1;
      if (text.size() > kLongestText)
        return Error{ErrorCode::invalid,
                     "with its placeholders filled in, \"" + cut_text(text, 40) + "\" has " +
                         number(text.size()) + " bytes, and Linux takes 131071 at most; put it into a file",
                     texts == &command.arguments ? "/command" : "/env"};
    }
  if (all <= kMostText) return std::nullopt;
  return Error{ErrorCode::invalid,
               "with placeholders filled in, the command and its variables have " + number(all) +
                   " bytes, and 1048576 is the most; put them into a file",
               "/command"};
}

bool has_nul(const std::string& text) { return text.find('\0') != std::string::npos; }

}  // namespace

Launch complete_launch(const Launch& order, const TaskPaths& paths) {
  Launch launch = order;
  launch.data_folder = paths.data;
  launch.checkpoint_folder = paths.checkpoints;
  launch.resume_folder = paths.resume;
  launch.init_folder = paths.init;
  launch.events_path = paths.events;
  return launch;
}

bool is_kept(std::string_view variable) {
  const std::string_view name = variable.substr(0, variable.find('='));
  return std::find(kKeptNames.begin(), kKeptNames.end(), name) != kKeptNames.end() ||
         std::any_of(kKeptPrefixes.begin(), kKeptPrefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

Result<TaskCommand> make_command(const StartTask& start, const TaskPaths& paths,
                                 const std::vector<std::string>& inherited,
                                 const std::map<int, std::string>& gpus, const TrackingServer& tracking) {
  const Launch& launch = start.launch;
  const std::map<std::string, std::string> values = placeholder_values(start, paths);
  TaskCommand command;
  if (launch.spec.launcher == Launcher::torchrun) command.arguments = torchrun();
  for (const std::string& argument : launch.spec.command)
    command.arguments.push_back(fill_placeholders(argument, values));
  if (command.arguments.empty()) command.arguments = {paths.worker, "run", paths.launch};
  const auto folder = working_folder(fill_placeholders(launch.spec.workdir, values), paths);
  if (!folder) return folder.errors();

  Environment environment;
  for (const std::string& variable : inherited)
    if (is_kept(variable)) environment.take(variable);
  if (!launch.spec.command.empty()) add_worker_folder(environment, paths.worker);
  if (!launch.spec.metrics.empty()) environment.set("PYTHONUNBUFFERED", "1");  // lines are read as they come
  if (launch.threads > 0) environment.set("OMP_NUM_THREADS", number(launch.threads));
  add_devices(environment, start, paths, gpus);
  add_tracking(environment, launch, tracking);
  for (const auto& [name, value] : launch.spec.env) environment.set(name, fill_placeholders(value, values));
  add_rendezvous(environment, launch, paths);
  add_launcher(environment, start);
  add_podium(environment, start, paths);
  add_parameters(environment, launch.spec);
  environment.set("PODIUM_WORKDIR", *folder);
  command.environment = environment.list();

  if (command.arguments.front().empty())
    return Error{ErrorCode::invalid, "the command's program must not be empty", "/command/0"};
  if (auto error = too_long(command)) return *std::move(error);
  if (std::any_of(command.arguments.begin(), command.arguments.end(), has_nul))
    return Error{ErrorCode::invalid, "the command must not contain NUL characters", "/command"};
  if (std::any_of(command.environment.begin(), command.environment.end(), has_nul))
    return Error{ErrorCode::invalid, "the job's name must not contain NUL characters", "/name"};
  return command;
}

}  // namespace podium
