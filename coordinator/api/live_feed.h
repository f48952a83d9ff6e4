// Turns events into messages of the live stream: jobs and nodes as they are now, and new metric points.
// Changes in quick succession become one message. On the loop's thread.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "coordinator/api/live_stream.h"
#include "coordinator/loop/command_loop.h"
#include "coordinator/loop/work_pool.h"

namespace podium {

class LiveFeed {
 public:
  LiveFeed(boost::asio::any_io_executor executor, CommandLoop& loop, WorkPool& pool, LiveStream& live);

  void start();
  void stop();

  void notice(const Events& decided);  // some may never be committed
  void follow(const Events& committed);
  void add_points(const StreamNews& ingested);

  // Whether the node has reported since this process started, or awoke from a long pause.
  bool has_heard(const NodeId& node) const { return seen_.contains(node); }

 private:
  void wake();
  void note_nodes(const Event& event, bool watched);
  bool says_more(const NodeSeen& now);
  boost::asio::awaitable<void> run();
  boost::asio::awaitable<bool> publish();
  boost::asio::awaitable<void> publish_jobs(std::set<JobId> changed);
  boost::asio::awaitable<void> publish_nodes(std::set<NodeId> changed);
  void publish_accounts();

  boost::asio::any_io_executor executor_;
  CommandLoop& loop_;
  WorkPool& pool_;
  LiveStream& live_;
  std::set<JobId> changed_jobs_;
  std::set<std::string> changed_accounts_;
  std::set<NodeId> changed_nodes_;
  std::map<NodeId, NodeSeen> seen_;  // the last of each node that was heard
  // For jobs with an attempt: the event of its end does not name its nodes.
  std::map<JobId, std::vector<NodeId>> nodes_of_jobs_;
  boost::asio::steady_timer pending_;  // expires when there is something to tell
  bool stopped_ = false;
};

}  // namespace podium
