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

#include "agent/process/fence_file.h"
#include "agent/process/task_exit.h"
#include "common/net/spawn.h"

namespace podium {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

constexpr Duration kTellExitAfter = 2s;  // the longest an exit waits for events and outputs
constexpr auto kAsTuple = asio::as_tuple(asio::use_awaitable);

asio::awaitable<std::string> read_to_end(asio::posix::stream_descriptor pipe) {
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
      start_health_(config_.home, [this] { fences_.probe(); }),
      wake_(executor),
      room_(config_.home, config_.kept_bytes),
      code_(executor, config_.home, config_.fetch_code,
            [this](TaskId task, const std::optional<TaskExit>& failure) {
              if (failure && failure->cause == ExitCause::not_started)
                start_failed(failure->message, Shortage::room);
              prepared(table_.code, task, failure);
            }),
      console_(clock, [this](TaskId task) { asio::post(executor_, [this, task] { console_read(task); }); }),
      inputs_(executor, config_.staging,
              [this](TaskId task, const std::optional<TaskExit>& failure) {
                prepared(table_.inputs, task, failure);
                changed();
              }),
      fences_([this](FenceNews news) {
        asio::post(executor_, [this, news = std::move(news)] { take_news(news); });
      }),
      outputs_([this](TaskId task, OutputsTold told) {
        asio::post(executor_, [this, task, told = std::move(told)] { outputs_told(task, told); });
      }),
      traces_([this](TaskId task, OutputsTold told) {
        asio::post(executor_, [this, task, told = std::move(told)] { traces_told(task, told); });
      }) {
  fences_.expect(config_.shared, config_.shared_id);
  cluster_ = read_cluster(config_.home);
  resume_lease();
  table_.forgotten = read_fences(config_.home);
  spdlog::info(cgroups_ ? "tasks get a cgroup each"
                        : "no writable cgroup v2: tasks get a process group each");
}

void Supervisor::follow(NodeOrders orders, Time sent) {
  join(orders);
  look_at_clock(orders.clock);
  orders_ = std::move(orders);
  table_.last_sync = sent;
  prepare_starts();
  act_soon();
}

void Supervisor::look_at_clock(Time coordinators) {
  constexpr std::size_t kKept = 8;  // answers; the clock follows its machine's slowly
  if (coordinators == Time{}) return;
  coordinator_ahead_.push_back(coordinators - clock_.now());
  if (coordinator_ahead_.size() > kKept) coordinator_ahead_.pop_front();
}

// Another coordinator may answer now, with another clock.
void Supervisor::touch_changed() {
  fences_.count();
  while (coordinator_ahead_.size() > 1) coordinator_ahead_.pop_front();
}

// Begins to prepare what tasks that are to start need, and drops what was prepared for others.
template <class Needs, class Want, class Cache>
void Supervisor::prepare(Cache& cache, std::map<TaskId, std::optional<TaskExit>>& ready, const Needs& needs,
                         const Want& want) {
  std::map<TaskId, const Launch*> needed;
  for (const TaskOrder& order : orders_.tasks) {
    const Launch& launch = order.launch;
    if (order.action == TaskAction::start && needs(launch.spec) && !tasks_.contains(launch.task))
      needed[launch.task] = &launch;
  }
  for (const TaskId task : cache.wanted())
    if (!needed.contains(task)) {
      cache.drop(task);
      ready.erase(task);
    }
  for (const auto& [task, launch] : needed) want(*launch);
}

void Supervisor::prepare_starts() {
  prepare(
      code_, table_.code, [](const JobSpec& spec) { return spec.code.has_value(); },
      [this](const Launch& launch) { code_.want(launch.task, launch.spec.code->snapshot); });
  prepare(
      inputs_, table_.inputs, [](const JobSpec& spec) { return !spec.inputs.empty(); },
      [this](const Launch& launch) { inputs_.want(launch.task, launch.spec.inputs, clock_.now()); });
}

void Supervisor::prepared(std::map<TaskId, std::optional<TaskExit>>& ready, TaskId task,
                          const std::optional<TaskExit>& failure) {
  ready[task] = failure;
  act_soon();
}

// Never call it within act(): the consequences of an action are handled after all actions of this turn.
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
      action_troubles_.failed(std::string(error.what()) + "; will be tried again");
    }
  }
  watch_fences();
  write_leases();
  action_troubles_.log_passed(now);
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

// Throws where Asio cannot watch the process; then nothing watches the task.
void Supervisor::watch(TaskId id, Fd pidfd, Fd ready) {
  asio::posix::stream_descriptor shim(executor_, pidfd.get());
  pidfd.release();
  std::optional<asio::posix::stream_descriptor> pipe;
  if (ready) {
    pipe.emplace(executor_, ready.get());
    ready.release();
  }
  tasks_.at(id).pidfd.emplace(std::move(shim));
  spawn(executor_, "watch " + to_string(id), watch_to_end(id, std::move(pipe)));
}

asio::awaitable<void> Supervisor::watch_to_end(TaskId id,
                                               std::optional<asio::posix::stream_descriptor> ready) {
  if (ready) heard(id, parse_ready(co_await read_to_end(std::move(*ready))));
  co_await tasks_.at(id).pidfd->async_wait(asio::posix::stream_descriptor::wait_read, asio::use_awaitable);
  ended(id);
  act_soon();
}

void Supervisor::heard(TaskId id, const Ready& ready) {
  SupervisedTask& task = tasks_.at(id);
  if (ready.pid < 0) {
    task.failed_start = ready.exit;
    if (ready.exit.cause == ExitCause::not_started) start_failed(ready.exit.message, Shortage::other);
    return;
  }
  start_health_.succeeded();
  task.record.pid = ready.pid;
  table_.processes.at(id).state = TaskState::running;
  spdlog::info("task {}: runs, pid {}", to_string(id), ready.pid);
  save(task);  // that it ran, whatever its program does to shim.lock
  changed();
}

void Supervisor::ended(TaskId id) {
  SupervisedTask& task = tasks_.at(id);
  task.pidfd.reset();
  if (task.shim > 0) ::waitpid(task.shim, nullptr, WNOHANG);  // an adopted shim is init's child
  try {
    set_exit(id, task.failed_start ? *task.failed_start : find_exit(id, *task.folder, cgroups_, task.asked));
  } catch (const std::exception& error) {
    set_exit(id, {0, SIGKILL, error.what(), ExitCause::shim_killed});
  }
}

void Supervisor::set_exit(TaskId id, TaskExit exit) {
  SupervisedTask& task = tasks_.at(id);
  spdlog::info("task {}: ended with {} {}{}{}", to_string(id), exit.signal ? "signal" : "code",
               exit.signal ? exit.signal : exit.code, exit.message.empty() ? "" : ": ", exit.message);
  task.record.exit = std::move(exit);
  task.tell_exit_at = clock_.now() + kTellExitAfter;
  Process& process = table_.processes[id];
  process.state = TaskState::exited;
  if (task.folder) {
    devices_.left(process.device_kind, process.device_index);
    for (const int index : process.more_devices) devices_.left(process.device_kind, index);
  }
  if (cgroups_) cgroups_->remove(id);
  inputs_.release(id);
  if (task.folder && !std::filesystem::exists(task.folder->path())) {  // the program's doing
    task.folder.reset();
    console_.drop(id);
    task.read = false;
  }
  if (task.read) console_.ended(id);
  save(task);
  collect_outputs_of(id);
  keep_traces_of(id);
  check_delivered(id);
}

void Supervisor::tell_exit(SupervisedTask& task) {
  task.exit_told = true;
  changed();
}

// An exit is reported once the events before it are delivered, so that the coordinator knows them when it
// judges the exit, and few outputs are collected, so that they are there when the job has ended.
void Supervisor::check_delivered(TaskId id) {
  SupervisedTask& task = tasks_.at(id);
  if (!task.record.exit) return;
  if (!task.exit_told && task.events_delivered() && task.is_collected()) tell_exit(task);
  Process& process = table_.processes.at(id);
  if (process.delivered || !task.is_collected() || !task.events_delivered() ||
      !task.is_delivered(StreamKind::out) || !task.is_delivered(StreamKind::err))
    return;
  process.delivered = task.settled = true;
  act_soon();
}

void Supervisor::set_delivered(TaskId id, StreamKind stream, std::int64_t next) {
  const auto found = tasks_.find(id);
  if (found == tasks_.end()) return;
  found->second.record.delivered[stream_index(stream)] = next;
  check_delivered(id);
}

// Reads the metrics in its output, from where an earlier agent stopped.
void Supervisor::read_console(TaskId id, const Launch& launch) {
  SupervisedTask& task = tasks_.at(id);
  auto reader = console_reader_of(launch);
  if (!reader || !task.folder) return;
  task.read = true;
  console_.follow(id, *task.folder, std::move(*reader));
}

void Supervisor::console_read(TaskId id) {
  const auto found = tasks_.find(id);
  if (found == tasks_.end()) return;
  found->second.read = false;
  check_delivered(id);
}

void Supervisor::give_up_delivery(TaskId id) {
  SupervisedTask& task = tasks_.at(id);
  console_.drop(id);
  task.read = false;
  for (std::size_t i = 0; i < kStreams.size(); ++i)
    task.record.delivered[i] = task.folder->stream_size(kStreams[i]);
  check_delivered(id);
}

void Supervisor::save(SupervisedTask& task) {
  if (!task.folder || task.record == task.saved) return;
  try {
    room_.make_room_for([&] { task.folder->write_record(task.record); });
    task.saved = task.record;
  } catch (const std::system_error& error) {
    save_troubles_.failed(std::string(error.what()) +
                          "; after a restart of the agent some of its output is sent twice");
  }
}

void Supervisor::leave() {
  save_records();
  if (cgroups_) cgroups_->tidy();
}

void Supervisor::save_records() {
  for (auto& [id, task] : tasks_) save(task);
  save_troubles_.log_passed(clock_.now());
}

void Supervisor::look_after() {
  for (auto& [id, task] : tasks_)
    if (task.pidfd) signal_pidfd(task.pidfd->native_handle(), SIGCONT);
  collect_ended();
  room_.look();
  inputs_.look(clock_.now());
  if (start_health_.look(clock_.now())) tell_health();
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
    if (process.device_kind == "gpu" && process.state != TaskState::exited) {
      gpus.insert(process.device_index);
      gpus.insert(process.more_devices.begin(), process.more_devices.end());
    }
  return gpus;
}

void Supervisor::stop_all() {
  table_.leaving = true;
  tell_health();
  act_soon();
}

std::size_t Supervisor::running() const {
  return static_cast<std::size_t>(
      std::count_if(table_.processes.begin(), table_.processes.end(),
                    [](const auto& entry) { return entry.second.state != TaskState::exited; }));
}

void Supervisor::changed() { on_change_(); }

}  // namespace podium
