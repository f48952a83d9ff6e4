// The inputs of ordered tasks: staged once for all tasks of a node that name the same, on threads of their
// own, and given to each task as a folder of links.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "agent/staging/stage.h"
#include "common/base/id.h"
#include "common/base/time.h"
#include "common/model/task_exit.h"

namespace podium {

struct StagingConfig {
  std::filesystem::path folder;  // of the store
  StoreLimits limits;
  std::filesystem::path data;  // where relative paths begin
  DownloadRules rules = {};
};

class InputStager {
 public:
  // Called when a task's inputs are there, or with the exit of a task that cannot have them.
  using Done = std::function<void(TaskId task, const std::optional<TaskExit>& failure)>;

  InputStager(boost::asio::any_io_executor executor, const StagingConfig& config, Done done);
  ~InputStager();  // waits for threads that work, but not for those that hang

  // Stages the task's inputs, unless they were wanted before.
  void want(TaskId task, const std::vector<InputSpec>& inputs, Time now);
  std::vector<TaskId> wanted() const;
  std::vector<TaskId> staging() const;  // those whose inputs are not there yet
  // Makes `folder`, with a link to each of the task's inputs, and returns what to tell of them.
  std::string give(TaskId task, const std::filesystem::path& folder);
  // Of a task that will not start. What nobody else wants is staged on for a while: the next attempt may.
  void drop(TaskId task);

  // `folder`: the links of a task that an earlier agent has started, and that lives. Call before anything
  // else.
  void adopt(TaskId task, const std::filesystem::path& folder);
  void release(TaskId task);  // it has ended, or never had any

  // Call every few seconds: gives up what has not moved for long, or what nobody has wanted for a while.
  void look(Time now);

 private:
  struct Threads;  // shared with them: those that hang may outlive this
  struct Work;
  struct Group;
  struct Outcome;

  void start(Group& group);
  static void run(const std::shared_ptr<Threads>& threads, const std::shared_ptr<Work>& work);
  void finished(std::int64_t number, Outcome outcome);
  void end(Group& group, std::optional<TaskExit> failure);
  void give_up(Group& group);
  Group* group_of(TaskId task);
  void erase(std::int64_t number);

  boost::asio::any_io_executor executor_;
  const StagingConfig config_;
  const Done done_;
  std::shared_ptr<Threads> threads_;
  std::map<std::int64_t, Group> groups_;
  std::map<std::int64_t, std::thread> running_;
  std::int64_t groups_made_ = 0;
};

}  // namespace podium
