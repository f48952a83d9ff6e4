// The one place where the cluster's state changes: a command a turn, on one thread. A turn is handle, apply,
// make_plan, enact, apply and one store.commit of all of it. Nothing learnt from the state may leave the
// process before durable() returns: no reply, no order, no live update.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "coordinator/core/handle.h"
#include "coordinator/core/plan/plan.h"
#include "coordinator/core/plan/wait_log.h"
#include "coordinator/core/plan/why.h"
#include "coordinator/loop/loop_counters.h"
#include "coordinator/store/store.h"

namespace podium {

// Turns were taken that the disk refuses. They are tried again: what was asked for may still happen.
class NotDurable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class CommandLoop {
 public:
  using Listener = std::function<void(const Events&)>;
  using NewsListener = std::function<void(const StreamNews&)>;

  // Continues with what the store loaded. The references outlive the loop.
  CommandLoop(boost::asio::any_io_executor executor, Store& store, const Clock& clock, Loaded loaded);

  // The first turn, and from then on a Tick whenever one is due.
  void start();
  // Commands are refused from now on; turns already taken are still committed.
  void stop();

  // Takes one turn. Its events are on disk when it returns; a refusal says why.
  boost::asio::awaitable<Result<Events>> run(Command command);
  // As run(), of many in one turn: each is decided on what those before it left, and one that is refused
  // keeps none of the others from being done. A command's errors; none: done.
  boost::asio::awaitable<std::vector<Errors>> run_each(std::vector<Command> commands);
  // As run(), with what the event log does not hold; `text.experiment` is filled in here.
  boost::asio::awaitable<Result<Events>> submit(SubmitExperiment experiment, ExperimentText text);
  // Takes a turn for what the core must know of the streams. An error says why none can be taken now.
  std::optional<Error> tell_core(const StreamBatch& streams);
  // tell_core(), and then the rows: they are committed after the turn, so that no offset ever passes a word
  // that the core could forget. Without an error, both are on disk when it returns.
  boost::asio::awaitable<std::optional<Error>> ingest(std::shared_ptr<StreamBatch> streams);
  // Returns when every node that may know more than a restored database was heard, or was silent for long
  // enough: from then on a number of a job can be given that nobody had. Throws Busy where
  // kMostWaitForNodes wait, and where the daemon stops.
  static constexpr int kMostWaitForNodes = 256;
  boost::asio::awaitable<void> heard();
  void stop_waiting() { waits_end_ = true; }
  // Returns when every turn taken so far is on disk; throws NotDurable when the disk refuses them.
  boost::asio::awaitable<void> durable();

  const ClusterState& state() const { return state_; }
  const Plan& plan() const { return plan_; }  // of the last turn
  const LoopCounters& counters() const { return counters_; }
  Time now() const { return clock_.now(); }
  std::string waiting_reason(JobId job) const;
  // Of an attempt that has not ended; "" for any other.
  std::string secret(AttemptId attempt) const;

  // Called in the turn, before it is on disk, and once it is.
  void on_decided(Listener listener) { decided_listeners_.push_back(std::move(listener)); }
  void on_committed(Listener listener) { committed_listeners_.push_back(std::move(listener)); }
  // Called when the rows of streams are on disk.
  void on_ingested(NewsListener listener) { ingested_listeners_.push_back(std::move(listener)); }

 private:
  std::optional<Error> refusal() const;
  Result<Events> take_turn(const Command& command, std::optional<ExperimentText> text);
  std::vector<Errors> take_turn(const std::vector<Command>& commands);
  Events end_turn(Events events, Time now, std::optional<ExperimentText> text);
  std::vector<AttemptSecret> keep_secrets(const Events& events);
  void commit(const Events& events, std::optional<ExperimentText> text, std::vector<WaitMark> waits);
  void committed(std::uint64_t turn, const Events& events);
  void schedule_tick();
  boost::asio::awaitable<void> tick();

  boost::asio::any_io_executor executor_;
  Store& store_;
  const Clock& clock_;

  ClusterState state_;
  Plan plan_;                                 // of the last turn
  mutable std::optional<Foremost> foremost_;  // of that plan, once somebody has asked
  WaitLog waits_;
  LoopCounters counters_;
  std::map<AttemptId, std::string> secrets_;
  bool stopped_ = false;
  bool waits_end_ = false;  // for nodes

  // Turns that had something to commit: taken, and on disk.
  int waiting_for_nodes_ = 0;
  std::uint64_t turns_taken_ = 0;
  std::uint64_t turns_committed_ = 0;
  using Waiting = std::multimap<std::uint64_t, boost::asio::steady_timer*>;
  Waiting waiting_for_disk_;  // by turn; cancelled to wake them

  boost::asio::steady_timer tick_timer_;
  std::vector<Listener> decided_listeners_;
  std::vector<Listener> committed_listeners_;
  std::vector<NewsListener> ingested_listeners_;
};

}  // namespace podium
