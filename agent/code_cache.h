// The code of tasks that are ordered: fetched from the coordinator once, kept packed under <home>/code, and
// unpacked anew for each task, all of it off the agent's own thread.
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

namespace podium {

class CodeCache {
 public:
  // The packed bytes; nothing where the coordinator has no such code. Throws where it cannot be asked.
  using Fetch = std::function<boost::asio::awaitable<std::optional<std::string>>(std::string sha256)>;
  // `done` tells of a task whose code is there, or why it cannot be.
  using Done = std::function<void(TaskId task, const std::string& failure)>;

  CodeCache(boost::asio::any_io_executor executor, const std::filesystem::path& home, Fetch fetch, Done done);

  // Prepares it, unless it was asked for before.
  void want(TaskId task, const std::string& sha256);
  std::vector<TaskId> wanted() const;
  // Moves what was prepared to `folder`.
  void give(TaskId task, const std::filesystem::path& folder);
  // Of a task that will not start.
  void drop(TaskId task);

 private:
  bool wants(TaskId task) const { return wanted_.contains(task); }
  boost::asio::awaitable<void> prepare(TaskId task, std::string sha256);
  boost::asio::awaitable<std::string> try_to_prepare(TaskId task, const std::string& sha256);
  // Whether the packed bytes are here now; false where the coordinator has none.
  boost::asio::awaitable<bool> have_packed(const std::string& sha256);
  std::filesystem::path unpacked(TaskId task) const;

  boost::asio::any_io_executor executor_;
  const std::filesystem::path folder_;
  const Fetch fetch_;
  const Done done_;
  std::map<TaskId, std::string> wanted_;  // by hash
  // Each once, however many tasks of the node want it. Shared: a fetch that is given up at the end leaves it last.
  const std::shared_ptr<std::set<std::string>> fetching_ = std::make_shared<std::set<std::string>>();
  boost::asio::thread_pool disk_{1};
};

}  // namespace podium
