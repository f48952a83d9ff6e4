#include "agent/staging/input_stager.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <condition_variable>
#include <mutex>
#include <ranges>
#include <system_error>
#include <utility>

#include "agent/process/home_room.h"
#include "common/base/human_bytes.h"
#include "common/base/units.h"

namespace podium {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr auto kStopGrace = 2s;
constexpr Duration kStuckAfter = 10min;
constexpr Duration kGoesOnFor = 2min;  // that nobody wants

bool same_inputs(const std::vector<InputSpec>& a, const std::vector<InputSpec>& b) {
  return std::ranges::equal(a, b, [](const InputSpec& x, const InputSpec& y) {
    return x.from == y.from && x.to == y.to && x.sha256 == y.sha256;
  });
}

// What the links of a task lead to.
std::set<std::string> keys_in(const fs::path& folder) {
  std::set<std::string> keys;
  std::error_code gone;
  for (const auto& entry : fs::recursive_directory_iterator(folder, gone))
    if (entry.is_symlink()) keys.insert(InputStore::key_of(fs::read_symlink(entry.path(), gone)));
  return keys;
}

std::string text_of_room(const std::system_error& error, const fs::path& folder) {
  if (!is_no_room(error)) return error.what();
  return "the disk of this node is full: make room in " + folder.string() + " (" + error.what() + ")";
}

}  // namespace

struct InputStager::Outcome {
  std::vector<StagedInput> staged;
  std::optional<TaskExit> failure;
};

struct InputStager::Threads {
  std::mutex opening;  // held by the thread that opens the store
  std::mutex mutex;    // guards the rest
  std::condition_variable changed;
  int working = 0;
  std::function<void(std::int64_t number, Outcome outcome)> tell;  // none: nobody listens any more
  std::map<std::string, fs::path>
      adopted;                        // folders of links, by holder, until the store knows who holds what
  std::shared_ptr<InputStore> store;  // once it is open

  std::shared_ptr<InputStore> open(const StagingConfig& config) {
    const std::lock_guard alone(opening);
    std::unique_lock lock(mutex);
    if (store) return store;
    const auto living = adopted;
    lock.unlock();
    InputStore::Holds holds;
    for (const auto& [holder, folder] : living) holds[holder] = keys_in(folder);
    auto opened = std::make_shared<InputStore>(config.folder, config.limits, std::move(holds));
    lock.lock();
    for (const auto& [holder, folder] : living)
      if (!adopted.contains(holder)) opened->release(holder);
    return store = opened;
  }

  void hold(const std::string& holder, const std::set<std::string>& keys) {
    const std::lock_guard lock(mutex);
    store->hold(holder, keys);
  }
  void release(const std::string& holder) {
    const std::lock_guard lock(mutex);
    adopted.erase(holder);
    if (store) store->release(holder);
  }
};

struct InputStager::Work {
  std::int64_t number;
  std::vector<InputSpec> inputs;
  StagingConfig config;
  StagingProgress progress;
  std::stop_source stop;

  std::string holder() const { return "group-" + std::to_string(number); }
};

struct InputStager::Group {
  std::shared_ptr<Work> work;
  std::set<TaskId> tasks;
  std::optional<Outcome> outcome;  // once there is one
  Time moved;
  std::int64_t steps = 0;        // when it moved last
  std::optional<Time> unwanted;  // since when
};

InputStager::InputStager(boost::asio::any_io_executor executor, const StagingConfig& config, Done done)
    : executor_(std::move(executor)),
      config_(config),
      done_(std::move(done)),
      threads_(std::make_shared<Threads>()) {
  threads_->tell = [this](std::int64_t number, Outcome outcome) {
    const std::weak_ptr<Threads> alive = threads_;
    boost::asio::post(executor_, [this, alive, number, outcome = std::move(outcome)]() mutable {
      const auto threads = alive.lock();
      if (!threads) return;
      {
        const std::lock_guard lock(threads->mutex);
        if (!threads->tell) return;
      }
      finished(number, std::move(outcome));
    });
  };
}

InputStager::~InputStager() {
  for (auto& [number, group] : groups_) group.work->stop.request_stop();
  std::unique_lock lock(threads_->mutex);
  threads_->tell = nullptr;
  const bool stopped =
      threads_->changed.wait_for(lock, kStopGrace, [this] { return threads_->working == 0; });
  lock.unlock();
  for (auto& [number, thread] : running_) stopped ? thread.join() : thread.detach();
}

void InputStager::want(TaskId task, const std::vector<InputSpec>& inputs, Time now) {
  if (group_of(task)) return;
  for (auto& [number, group] : groups_) {
    if (!same_inputs(group.work->inputs, inputs) || (group.outcome && group.outcome->failure)) continue;
    group.tasks.insert(task);
    group.unwanted.reset();
    if (group.outcome) done_(task, group.outcome->failure);
    return;
  }
  Group& group = groups_[++groups_made_];
  group.work = std::make_shared<Work>();
  group.work->number = groups_made_;
  group.work->inputs = inputs;
  group.work->config = config_;
  group.tasks = {task};
  group.moved = now;
  start(group);
}

void InputStager::start(Group& group) {
  {
    const std::lock_guard lock(threads_->mutex);
    ++threads_->working;
  }
  running_[group.work->number] = std::thread([threads = threads_, work = group.work] { run(threads, work); });
}

void InputStager::run(const std::shared_ptr<Threads>& threads, const std::shared_ptr<Work>& work) {
  Outcome outcome;
  const auto fail = [&outcome](ExitCause cause, const std::string& why) {
    outcome.failure = TaskExit{0, 0, why, cause};
  };
  try {
    const auto store = threads->open(work->config);
    outcome.staged = stage_inputs(work->inputs, work->config.data, work->holder(), *store, work->config.rules,
                                  work->progress, work->stop.get_token());
  } catch (const StagingFailure& failure) {
    fail(failure.cause(), failure.what());
  } catch (const std::system_error& error) {
    fail(ExitCause::not_started, text_of_room(error, work->config.folder));
  } catch (const std::exception& error) {
    fail(ExitCause::not_started, error.what());
  }
  const std::lock_guard lock(threads->mutex);
  --threads->working;
  threads->changed.notify_all();
  if (threads->tell) threads->tell(work->number, std::move(outcome));
}

void InputStager::finished(std::int64_t number, Outcome outcome) {
  if (const auto thread = running_.find(number); thread != running_.end()) {
    thread->second.join();
    running_.erase(thread);
  }
  const auto found = groups_.find(number);
  if (found == groups_.end()) return threads_->release("group-" + std::to_string(number));
  if (found->second.outcome) return;  // it was given up
  found->second.outcome = std::move(outcome);
  end(found->second, found->second.outcome->failure);
}

void InputStager::end(Group& group, std::optional<TaskExit> failure) {
  if (!group.outcome) group.outcome.emplace();
  group.outcome->failure = std::move(failure);
  const std::set<TaskId> tasks = group.tasks;  // whoever is told may drop some
  const std::optional<TaskExit> told = group.outcome->failure;
  for (const TaskId task : tasks) done_(task, told);
}

InputStager::Group* InputStager::group_of(TaskId task) {
  for (auto& [number, group] : groups_)
    if (group.tasks.contains(task)) return &group;
  return nullptr;
}

std::vector<TaskId> InputStager::wanted() const {
  std::vector<TaskId> tasks;
  for (const auto& [number, group] : groups_)
    tasks.insert(tasks.end(), group.tasks.begin(), group.tasks.end());
  return tasks;
}

std::vector<TaskId> InputStager::staging() const {
  std::vector<TaskId> tasks;
  for (const auto& [number, group] : groups_)
    if (!group.outcome) tasks.insert(tasks.end(), group.tasks.begin(), group.tasks.end());
  return tasks;
}

std::string InputStager::give(TaskId task, const fs::path& folder) {
  Group& group = *group_of(task);
  std::set<std::string> keys;
  fs::create_directory(folder);
  for (const StagedInput& input : group.outcome->staged) {
    keys.insert(input.key);
    const fs::path link = (folder / input.to).lexically_normal();
    fs::create_directories(link.parent_path());
    fs::create_symlink(input.data, link);
  }
  threads_->hold(to_string(task), keys);
  const std::int64_t staged = group.work->progress.staged;
  std::string text = std::to_string(group.outcome->staged.size()) + " input(s) ready on this node";
  if (staged > 0)
    text += ": " + std::to_string(staged) + " staged, " + human_bytes(group.work->progress.bytes);
  drop(task);
  return text;
}

void InputStager::drop(TaskId task) {
  Group* const group = group_of(task);
  if (!group) return;
  group->tasks.erase(task);
  if (group->tasks.empty() && group->outcome) erase(group->work->number);
}

void InputStager::erase(std::int64_t number) {
  const Group& group = groups_.at(number);
  group.work->stop.request_stop();
  threads_->release(group.work->holder());
  groups_.erase(number);
}

void InputStager::adopt(TaskId task, const fs::path& folder) {
  const std::lock_guard lock(threads_->mutex);
  threads_->adopted[to_string(task)] = folder;
}

void InputStager::release(TaskId task) { threads_->release(to_string(task)); }

void InputStager::look(Time now) {
  std::vector<std::int64_t> left;
  std::vector<Group*> stuck;
  for (auto& [number, group] : groups_) {
    if (!group.tasks.empty())
      group.unwanted.reset();
    else if (!group.unwanted)
      group.unwanted = now;
    if (group.unwanted && (group.outcome || now - *group.unwanted >= kGoesOnFor)) left.push_back(number);
    if (group.outcome) continue;
    const std::int64_t steps = group.work->progress.steps;
    if (std::exchange(group.steps, steps) != steps) group.moved = now;
    if (!group.unwanted && now - group.moved >= kStuckAfter) stuck.push_back(&group);
  }
  for (Group* const group : stuck) give_up(*group);
  for (const std::int64_t number : left) erase(number);
}

void InputStager::give_up(Group& group) {
  spdlog::error("staging the inputs of {} task(s) has not moved for {}; it is given up", group.tasks.size(),
                format_duration(kStuckAfter));
  group.work->stop.request_stop();
  end(group, TaskExit{0, 0,
                      "staging its inputs has not moved for " + format_duration(kStuckAfter) +
                          "; see whether a file system hangs on this node",
                      ExitCause::cannot_run});
}

}  // namespace podium
