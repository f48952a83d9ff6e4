#include "agent/supervisor.h"

#include <signal.h>
#include <spdlog/spdlog.h>
#include <sys/wait.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <system_error>
#include <utility>

#include "agent/process/adoption.h"
#include "agent/process/fence_file.h"
#include "agent/process/shim_protocol.h"
#include "agent/process/task_exit.h"
#include "common/net/spawn.h"

namespace podium {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

constexpr Duration kTellExitAfter = 2s;  // the longest an exit waits for the events before it to be delivered
constexpr std::size_t kKeptFolders = 50;
constexpr auto kAsTuple = asio::as_tuple(asio::use_awaitable);

asio::awaitable<std::string> read_to_end(asio::any_io_executor executor, Fd fd) {
  asio::posix::stream_descriptor pipe(executor, fd.release());
  std::string text;
  co_await asio::async_read(pipe, asio::dynamic_buffer(text), kAsTuple);
  co_return text;
}

}  // namespace

Supervisor::Supervisor(asio::any_io_executor executor, SupervisorConfig config, NodeDevices& devices,
                       const Clock& clock, std::function<void()> on_change)
    : executor_(executor),
      config_(std::move(config)),
      devices_(devices),
      clock_(clock),
      on_change_(std::move(on_change)),
      cgroups_(Cgroups::find(config_.home)),
      lease_(config_.home),
      wake_(executor) {
  renew_lease();
  table_.forgotten = read_fences(config_.home);
  spdlog::info(cgroups_ ? "tasks get a cgroup each"
                        : "no writable cgroup v2: tasks get a process group each");
}

void Supervisor::adopt() {
  std::vector<std::filesystem::path> strange;
  for (const TaskId id : find_tasks(config_.home, strange)) adopt_one(id);
  for (const auto& path : strange)
    spdlog::warn("{} is not the folder of a task that was started: left alone", path.string());
  act_soon();
}

void Supervisor::adopt_one(TaskId id) {
  const TaskFolder folder(config_.home, id);
  const TaskRecord record = folder.read_record();
  if (record.forgotten) return keep(id);
  Task& task = tasks_[id];
  task.record = task.saved = record;
  task.folder = folder;
  Process& process = table_.processes[id];
  process.device_kind = record.device_kind;
  process.device_index = record.device_index;
  if (record.exit) return set_exit(id, *record.exit);
  if (record.boot != boot_id()) return set_exit(id, {0, SIGKILL, "the node was restarted"});
  AdoptedShim shim = adopt_shim(folder.path());
  switch (shim.state) {
    case ShimState::gone:
      return ended(id);
    case ShimState::unborn:
      return drop_unborn(id);
    case ShimState::starting:
      return spawn(executor_, "adopt " + to_string(id), adopt_later(id));
    case ShimState::alive:
      process.state = TaskState::running;
      task.record.pid = shim.program;
      spdlog::info("task {} still runs (pid {}): adopted", to_string(id), shim.program);
      return watch(id, std::move(shim.pidfd), Fd());
  }
}

// The earlier agent ended between writing the record and starting the program: the task may yet be started,
// once.
void Supervisor::drop_unborn(TaskId id) {
  tasks_.at(id).folder->remove();
  tasks_.erase(id);
  table_.processes.erase(id);
}

asio::awaitable<void> Supervisor::adopt_later(TaskId id) {
  asio::steady_timer pause(executor_, 20ms);
  co_await pause.async_wait(asio::use_awaitable);
  adopt_one(id);
  act_soon();
}

void Supervisor::follow(NodeOrders orders) {
  orders_ = std::move(orders);
  override_orders();
  renew_lease();
  act_soon();
}

void Supervisor::renew_lease() {
  table_.last_sync = clock_.now();
  lease_.set(table_.last_sync + orders_.lease);
}

// Never from within act: an action's consequences are looked at afresh, after all actions of this turn.
void Supervisor::act_soon() {
  if (std::exchange(act_pending_, true)) return;
  asio::post(executor_, [this] {
    act_pending_ = false;
    act();
  });
}

void Supervisor::act() {
  const Time now = clock_.now();
  table_.occupied_gpus = devices_.occupied();
  const Actions actions = reconcile(orders_, table_, now);
  for (const Action& action : actions.list) {
    try {
      std::visit([this](const auto& one) { carry_out(one); }, action);
    } catch (const std::exception& error) {
      spdlog::error("{}; will be tried again", error.what());
    }
  }
  std::optional<Time> wake_at = actions.wake_at;
  for (auto& [id, task] : tasks_) {
    if (!task.record.exit || task.exit_told) continue;
    if (now >= task.tell_exit_at)
      tell_exit(task);
    else
      wake_at = std::min(wake_at.value_or(task.tell_exit_at), task.tell_exit_at);
  }
  if (!wake_at) return;
  wake_.expires_after(std::max<Duration>(*wake_at - now, 1ms));
  wake_.async_wait([this](boost::system::error_code cancelled) {
    if (!cancelled) act_soon();
  });
}

void Supervisor::carry_out(const Start& start) {
  const TaskId id = start.launch.task;
  Task& task = tasks_[id];
  task.record.task = id;
  task.record.boot = boot_id();
  task.record.device_kind = start.launch.device_kind;
  task.record.device_index = start.launch.device_index;
  Process& process = table_.processes[id];
  process.device_kind = start.launch.device_kind;
  process.device_index = start.launch.device_index;
  try {
    launch(task, start);
  } catch (const std::system_error& error) {
    const bool written = task.folder.has_value();
    set_exit(id, {written ? shim::kCannotRun : shim::kCannotWrite, 0, error.what()});
  }
  changed();
}

TaskPaths Supervisor::paths_of(const Launch& order, const TaskFolder& folder) const {
  const auto checkpoints = config_.shared / "jobs" / to_string(order.task.attempt.job) / "checkpoints";
  return {folder.path(), folder.launch_path(), folder.stream_path(StreamKind::events),
          config_.data,  checkpoints,          config_.worker};
}

void Supervisor::launch(Task& task, const Start& start) {
  const TaskId id = start.launch.task;
  const TaskFolder folder(config_.home, id);
  const TaskPaths paths = paths_of(start.launch, folder);
  const Result<Command> command = make_command(start, paths, config_.environment, gpu_uuids());
  if (!command) return set_exit(id, {static_cast<int>(WorkerExit::bad_spec), 0, describe(command.errors())});
  std::filesystem::create_directories(paths.checkpoints);
  folder.create(task.record, complete_launch(start.launch, paths));
  task.folder = folder;
  const auto cgroup = cgroups_ ? cgroups_->make(id) : std::filesystem::path();
  const Device* device = devices_.find(start.launch.device_kind, start.launch.device_index);
  SpawnedShim shim = spawn_shim({config_.shim, folder.path(), command->arguments, command->environment,
                                 cgroup, device ? device->numa : -1});
  task.shim = shim.pid;
  spdlog::info("task {}: started ({})", to_string(id), start.launch.name);
  watch(id, std::move(shim.pidfd), std::move(shim.ready));
}

std::map<int, std::string> Supervisor::gpu_uuids() const {
  std::map<int, std::string> uuids;
  for (const Device& device : devices_.list())
    if (device.kind == "gpu" && !device.artificial && !device.uuid.empty()) uuids[device.index] = device.uuid;
  return uuids;
}

void Supervisor::carry_out(const Refuse& refuse) {
  spdlog::warn("task {}: {}", to_string(refuse.task), refuse.exit.message);
  tasks_[refuse.task].record.task = refuse.task;
  set_exit(refuse.task, refuse.exit);
}

void Supervisor::carry_out(const Terminate& terminate) {
  Task& task = tasks_.at(terminate.task);
  if (!task.pidfd) return;  // its shim is just being adopted
  spdlog::info("task {}: SIGTERM, because {}", to_string(terminate.task), terminate.reason);
  signal_pidfd(task.pidfd->native_handle(), SIGTERM);
  Process& process = table_.processes.at(terminate.task);
  process.stopping = Stopping::terminating;
  process.kill_at = terminate.kill_at;
}

void Supervisor::carry_out(const Kill& kill) {
  Task& task = tasks_.at(kill.task);
  if (!task.pidfd) return;  // as above
  spdlog::info("task {}: SIGKILL, because {}", to_string(kill.task), kill.reason);
  signal_pidfd(task.pidfd->native_handle(), SIGUSR1);  // the shim does it, and says how the program ended
  table_.processes.at(kill.task).stopping = Stopping::killing;
}

void Supervisor::carry_out(const Forget& forget) {
  raise_fence(config_.home, table_.forgotten, forget.task.attempt);
  Task& task = tasks_.at(forget.task);
  if (task.folder) {
    task.record.forgotten = true;
    task.folder->write_record(task.record);
    keep(forget.task);
  }
  tasks_.erase(forget.task);
  table_.processes.erase(forget.task);
  spdlog::info("task {}: forgotten", to_string(forget.task));
  changed();
  act_soon();
}

// The newest folders stay for people to look into.
void Supervisor::keep(TaskId id) {
  kept_.push_back(id);
  if (kept_.size() <= kKeptFolders) return;
  TaskFolder(config_.home, kept_.front()).remove();
  kept_.pop_front();
}

void Supervisor::watch(TaskId id, Fd pidfd, Fd ready) {
  tasks_.at(id).pidfd.emplace(executor_, pidfd.release());
  spawn(executor_, "watch " + to_string(id), watch_to_end(id, std::move(ready)));
}

asio::awaitable<void> Supervisor::watch_to_end(TaskId id, Fd ready) {
  if (ready) heard(id, parse_ready(co_await read_to_end(executor_, std::move(ready))));
  co_await tasks_.at(id).pidfd->async_wait(asio::posix::stream_descriptor::wait_read, asio::use_awaitable);
  ended(id);
  act_soon();
}

void Supervisor::heard(TaskId id, const Ready& ready) {
  Task& task = tasks_.at(id);
  if (ready.pid < 0) {
    task.failed_start = TaskExit{ready.exit_code, 0, ready.message};
    return;
  }
  task.record.pid = ready.pid;
  table_.processes.at(id).state = TaskState::running;
  spdlog::info("task {}: runs, pid {}", to_string(id), ready.pid);
  changed();
}

void Supervisor::ended(TaskId id) {
  Task& task = tasks_.at(id);
  task.pidfd.reset();
  if (task.shim > 0) ::waitpid(task.shim, nullptr, WNOHANG);  // an adopted shim is init's child
  try {
    set_exit(id, task.failed_start ? *task.failed_start : find_exit(id, *task.folder, cgroups_));
  } catch (const std::exception& error) {
    set_exit(id, {0, SIGKILL, std::string("how it ended cannot be known: ") + error.what()});
  }
}

void Supervisor::set_exit(TaskId id, TaskExit exit) {
  Task& task = tasks_.at(id);
  spdlog::info("task {}: ended with {} {}{}{}", to_string(id), exit.signal ? "signal" : "code",
               exit.signal ? exit.signal : exit.code, exit.message.empty() ? "" : ": ", exit.message);
  task.record.exit = std::move(exit);
  task.tell_exit_at = clock_.now() + kTellExitAfter;
  Process& process = table_.processes[id];
  process.state = TaskState::exited;
  if (task.folder) devices_.left(process.device_kind, process.device_index);
  if (cgroups_) cgroups_->remove(id);
  save(task);
  check_delivered(id);
}

void Supervisor::tell_exit(Task& task) {
  task.exit_told = true;
  changed();
}

// An exit is told once the events before it are delivered, so that the coordinator judges it knowing them.
void Supervisor::check_delivered(TaskId id) {
  Task& task = tasks_.at(id);
  if (!task.record.exit) return;
  if (!task.exit_told && task.is_delivered(0)) tell_exit(task);
  Process& process = table_.processes.at(id);
  if (process.delivered || !task.is_delivered(0) || !task.is_delivered(1) || !task.is_delivered(2)) return;
  process.delivered = true;
  act_soon();
}

void Supervisor::set_delivered(TaskId id, StreamKind stream, std::int64_t next) {
  const auto found = tasks_.find(id);
  if (found == tasks_.end()) return;
  found->second.record.delivered[stream_index(stream)] = next;
  check_delivered(id);
}

void Supervisor::give_up_delivery(TaskId id) {
  Task& task = tasks_.at(id);
  for (std::size_t i = 0; i < kStreams.size(); ++i)
    task.record.delivered[i] = task.folder->stream_size(kStreams[i]);
  check_delivered(id);
}

void Supervisor::save(Task& task) {
  if (!task.folder || task.record == task.saved) return;
  try {
    task.folder->write_record(task.record);
    task.saved = task.record;
  } catch (const std::system_error& error) {
    spdlog::error("{}; after a restart of the agent some of its output is sent twice", error.what());
  }
}

void Supervisor::leave() {
  save_records();
  if (cgroups_) cgroups_->tidy();
}

void Supervisor::save_records() {
  for (auto& [id, task] : tasks_) save(task);
}

std::vector<TaskReport> Supervisor::reports() const {
  std::vector<TaskReport> reports;
  for (const auto& [id, task] : tasks_) {
    TaskReport report{id, table_.processes.at(id).state, task.record.pid, {}};
    if (task.exit_told)
      report.exit = task.record.exit;
    else if (report.state == TaskState::exited)
      report.state = TaskState::running;
    reports.push_back(std::move(report));
  }
  return reports;
}

std::set<int> Supervisor::gpus_in_use() const {
  std::set<int> gpus;
  for (const auto& [id, process] : table_.processes)
    if (process.device_kind == "gpu" && process.state != TaskState::exited) gpus.insert(process.device_index);
  return gpus;
}

void Supervisor::stop_all() {
  stops_all_ = true;
  override_orders();
  act_soon();
}

void Supervisor::override_orders() {
  if (!stops_all_) return;
  for (TaskOrder& order : orders_.tasks) order.action = TaskAction::stop;
}

std::size_t Supervisor::running() const {
  return static_cast<std::size_t>(
      std::count_if(table_.processes.begin(), table_.processes.end(),
                    [](const auto& entry) { return entry.second.state != TaskState::exited; }));
}

void Supervisor::changed() { on_change_(); }

}  // namespace podium
