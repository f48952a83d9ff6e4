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
  const std::map<std::string, std::string>& all() const { return values_; }
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

std::string_view name_of(std::string_view variable) { return variable.substr(0, variable.find('=')); }

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
void add_launcher(Environment& out, const StartTask& start, const TaskPaths& paths) {
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
  out.set("PET_LOG_DIR", paths.folder + "/torchrun");  // which goes with the task, unlike one in /tmp
  out.set("PET_RDZV_BACKEND", "c10d");
  out.set("PET_RDZV_ENDPOINT", launch.master_address + ":" + number(launch.master_port));
  // torchrun compares the endpoint with what its host name resolves to, which may be another address.
  out.set("PET_RDZV_CONF", launch.node_rank == 0 ? "is_host=true" : "is_host=false");
  if (!paths.address.empty()) out.set("PET_LOCAL_ADDR", paths.address);  // where others find its rank 0
}

// Starts torchrun with the arguments, by its own name or, where only Python knows it, as a module. The
// program's PATH decides, in its container where it has one.
std::vector<std::string> torchrun() {
  static const std::string kScript = R"sh(command -v torchrun >/dev/null && exec torchrun "$@"
if command -v python3 >/dev/null &&
  python3 -c 'import importlib.util as u, sys; sys.exit(not u.find_spec("torch"))'
then exec python3 -m torch.distributed.run "$@"
fi
echo ")sh" + std::string(kNoTorchrun) +
                                     R"sh( is in its PATH ($PATH)" >&2
exit 127)sh";
  return {"/bin/sh", "-c", kScript, "torchrun"};
}

// How it will be told to leave. podium-shim reads the signal and makes the file (agent/process/shim.cc).
void add_stop(Environment& out, const Launch& launch, const TaskPaths& paths) {
  out.set("PODIUM_STOP_FILE", paths.folder + "/stop");
  out.set("PODIUM_STOP_SIGNAL", launch.spec.stop.signal);
  out.set("PODIUM_STOP_GRACE", number(launch.spec.stop.grace / std::chrono::seconds(1)));
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
  add_stop(out, launch, paths);
  if (!launch.newest_checkpoint.empty()) {
    const bool absolute = launch.newest_checkpoint.starts_with('/');
    out.set("PODIUM_CHECKPOINT", (absolute ? "" : paths.checkpoints + "/") + launch.newest_checkpoint);
    out.set("PODIUM_CHECKPOINT_STEP", number(launch.newest_step));
  }
  if (!paths.resume.empty()) out.set("PODIUM_RESUME", paths.resume);
  if (!paths.code.empty()) out.set("PODIUM_CODE", paths.code);
  if (!paths.inputs.empty()) out.set("PODIUM_INPUTS", paths.inputs);
}

// As the driver and container runtimes name them: all by UUID, or where one is not known all by index.
std::vector<std::string> gpu_names(const StartTask& start, const std::map<int, std::string>& gpus) {
  if (start.launch.device_kind != "gpu") return {};
  std::vector<std::string> names;
  const bool by_uuid =
      std::ranges::all_of(start.visible_devices, [&](int index) { return gpus.contains(index); });
  for (const int index : start.visible_devices) names.push_back(by_uuid ? gpus.at(index) : number(index));
  return names;
}

// LOCAL_RANK indexes into CUDA_VISIBLE_DEVICES. By uuid: CUDA leaves out a GPU that has fallen off the bus,
// and the indexes after it would mean other devices than NVML's. By index, NVML's is the order on the PCI
// bus.
void add_devices(Environment& out, const StartTask& start, const TaskPaths& paths,
                 const std::map<int, std::string>& gpus) {
  if (start.launch.device_kind != "gpu") return out.set("CUDA_VISIBLE_DEVICES", "");
  std::string devices;
  for (const std::string& name : gpu_names(start, gpus)) devices += (devices.empty() ? "" : ",") + name;
  out.set("CUDA_DEVICE_ORDER", "PCI_BUS_ID");
  out.set("CUDA_VISIBLE_DEVICES", devices);
  out.set("TORCH_NCCL_TRACE_BUFFER_SIZE", "2000");
  out.set("TORCH_NCCL_DUMP_ON_TIMEOUT", "1");
  const std::string traces = paths.folder + "/" + kTraceFiles;
  out.set("TORCH_FR_DUMP_TEMP_FILE", traces);
  out.set("TORCH_NCCL_DEBUG_INFO_TEMP_FILE", traces);  // its older name
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
                                            {"task_folder", paths.folder},
                                            {"inputs", paths.inputs}};
  for (const auto& [name, value] : launch.spec.parameters) values.emplace(name, parameter_text(value));
  return values;
}

ContainerSpec filled(ContainerSpec container, const std::map<std::string, std::string>& values) {
  container.image = fill_placeholders(container.image, values);
  for (std::string& mount : container.mounts) mount = fill_placeholders(mount, values);
  for (auto& [name, value] : container.env) value = fill_placeholders(value, values);
  return container;
}

// The job's folders, at the same paths within the container.
std::vector<Mount> folders_of(const TaskPaths& paths, const TrackingServer& tracking) {
  std::vector<Mount> folders{{paths.folder, paths.folder, false},
                             {paths.checkpoints, paths.checkpoints, false},
                             {paths.data, paths.data, false}};
  if (!paths.resume.empty()) folders.push_back({paths.resume, paths.resume, true});
  if (!paths.input_store.empty()) folders.push_back({paths.input_store, paths.input_store, true});
  if (!tracking.ca_file.empty()) folders.push_back({tracking.ca_file, tracking.ca_file, true});
  return folders;
}

// No other container on the node has it, of whatever cluster or home.
std::string container_name(TaskId task, const std::string& folder) {
  std::uint32_t hash = 2166136261;  // FNV-1a
  for (const char c : folder) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619;
  std::string name = "podium-" + to_string(task) + "-" + number(hash);
  std::ranges::replace(name, '.', '-');
  return name;
}

// The runtime has the agent's own variables and what it passes on. podium-shim and the agent go by two of the
// task's.
Environment environment_of_runtime(const std::vector<std::string>& inherited, const Environment& of_program,
                                   const std::map<std::string, std::string>& passed) {
  Environment out;
  for (const std::string& variable : inherited)
    if (is_kept(variable) || is_runtimes_own(name_of(variable))) out.take(variable);
  for (const auto& [name, value] : passed) out.set(name, value);
  for (const char* name : {"PODIUM_TASK_FOLDER", "PODIUM_STOP_SIGNAL"})
    out.set(name, *of_program.value(name));
  return out;
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

// Why no process can be started with it; nothing where one can.
std::optional<Error> unfit(const TaskCommand& command) {
  if (command.arguments.front().empty())
    return Error{ErrorCode::invalid, "the command's program must not be empty", "/command/0"};
  if (auto error = too_long(command)) return error;
  if (std::ranges::any_of(command.arguments, has_nul))
    return Error{ErrorCode::invalid, "the command must not contain NUL characters", "/command"};
  if (std::ranges::any_of(command.environment, has_nul))
    return Error{ErrorCode::invalid, "the job's name must not contain NUL characters", "/name"};
  return std::nullopt;
}

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
  const std::string_view name = name_of(variable);
  return std::find(kKeptNames.begin(), kKeptNames.end(), name) != kKeptNames.end() ||
         std::any_of(kKeptPrefixes.begin(), kKeptPrefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

Result<TaskCommand> make_command(const StartTask& start, const TaskPaths& paths,
                                 const std::vector<std::string>& inherited,
                                 const std::map<int, std::string>& gpus, const TrackingServer& tracking,
                                 const ContainerHost& containers) {
  const Launch& launch = start.launch;
  const std::map<std::string, std::string> values = placeholder_values(start, paths);
  TaskCommand command;
  if (launch.spec.launcher == Launcher::torchrun) command.arguments = torchrun();
  for (const std::string& argument : launch.spec.command)
    command.arguments.push_back(fill_placeholders(argument, values));
  if (command.arguments.empty()) command.arguments = {paths.worker, "run", paths.launch};
  const auto folder = working_folder(fill_placeholders(launch.spec.workdir, values), paths);
  if (!folder) return folder.errors();

  const bool contained = launch.spec.container.has_value();
  Environment environment;
  for (const std::string& variable : inherited)
    if (is_kept(variable) && !(contained && is_runtimes_own(name_of(variable)))) environment.take(variable);
  if (!launch.spec.command.empty() && !contained) add_worker_folder(environment, paths.worker);
  const bool read = !launch.spec.metrics.empty() || launch.spec.launcher == Launcher::torchrun;
  if (read) environment.set("PYTHONUNBUFFERED", "1");  // lines come as they are printed
  if (launch.threads > 0) environment.set("OMP_NUM_THREADS", number(launch.threads));
  add_devices(environment, start, paths, gpus);
  add_tracking(environment, launch, tracking);
  for (const auto& [name, value] : launch.spec.env) environment.set(name, fill_placeholders(value, values));
  add_rendezvous(environment, launch, paths);
  add_launcher(environment, start, paths);
  add_podium(environment, start, paths);
  add_parameters(environment, launch.spec);
  environment.set("PODIUM_WORKDIR", *folder);
  command.environment = environment.list();
  command.folder = *folder;
  if (auto error = unfit(command)) return *std::move(error);
  if (!contained) return command;

  ContainedProgram program{command.arguments, environment.all(), *folder,
                           filled(*launch.spec.container, values)};
  program.folders = folders_of(paths, tracking);
  program.gpus = gpu_names(start, gpus);
  program.name = container_name(launch.task, paths.folder);
  program.task_folder = paths.folder;
  program.data = paths.data;
  Result<ContainerCommand> container = contain(program, containers);
  if (!container) return container.errors();
  command = {container->arguments,
             environment_of_runtime(inherited, environment, container->variables).list(), *folder, true,
             container->at_end};
  if (auto error = unfit(command)) return *std::move(error);
  return command;
}

}  // namespace podium
