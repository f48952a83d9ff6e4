// The code of ordered tasks: fetched from the coordinator once, kept packed under <home>/code, and unpacked
// for each task, all off the agent's own thread.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/id.h"
#include "common/model/task_exit.h"

namespace podium {

class CodeCache {
 public:
  // Returns the packed bytes; nothing where the coordinator has no such code. Throws where it cannot be
  // reached.
  using Fetch = std::function<boost::asio::awaitable<std::optional<std::string>>(std::string sha256)>;
  // Called when a task's code is there, or with the exit of a task that cannot have it.
  using Done = std::function<void(TaskId task, const std::optional<TaskExit>& failure)>;

  CodeCache(boost::asio::any_io_executor executor, const std::filesystem::path& home, Fetch fetch, Done done);

  // Prepares the task's code, unless it was wanted before.
  void want(TaskId task, const std::string& sha256);
  std::vector<TaskId> wanted() const;
  // Moves the prepared code to `folder`.
  void give(TaskId task, const std::filesystem::path& folder);
  // Drops the code of a task that will not start.
  void drop(TaskId task);

 private:
  // A dropped task may be wanted again while its earlier preparation still runs, so each want has a folder of
  // its own.
  struct Want {
    TaskId task;
    std::int64_t number = 0;
  };

  bool stands(const Want& want) const;
  boost::asio::awaitable<void> prepare(Want want, std::string sha256);
  boost::asio::awaitable<std::optional<TaskExit>> try_to_prepare(const Want& want, const std::string& sha256);
  // Whether the packed bytes are here now; false where the coordinator has none.
  boost::asio::awaitable<bool> have_packed(const std::string& sha256);
  std::filesystem::path unpacked(const Want& want) const;
  void remove(const Want& want);

  boost::asio::any_io_executor executor_;
  const std::filesystem::path folder_;
  const Fetch fetch_;
  const Done done_;
  std::map<TaskId, std::int64_t> wanted_;  // the number of each want
  std::int64_t wants_ = 0;
  // Each once, however many tasks of the node want it. Shared: a fetch that is given up at the end leaves it
  // last.
  const std::shared_ptr<std::set<std::string>> fetching_ = std::make_shared<std::set<std::string>>();
  boost::asio::thread_pool disk_{1};
};

}  // namespace podium
