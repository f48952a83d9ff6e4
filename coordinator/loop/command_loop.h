// The only place where the cluster's state changes: one command in each turn, on one thread. A turn is
// handle, apply, make_plan, enact, apply, and one store.commit of all of it. Nothing that comes from the
// state may leave the process before durable() returns: no reply, no order, no live update.
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

// The disk refuses turns that were taken. They are repeated, so the commands may still take effect.
class NotDurable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class CommandLoop {
 public:
  using Listener = std::function<void(const Events&)>;
  using NewsListener = std::function<void(const StreamNews&)>;

  // Continues with what the store loaded. The references must outlive the loop.
  CommandLoop(boost::asio::any_io_executor executor, Store& store, const Clock& clock, Loaded loaded);

  // Takes the first turn, and from then on a Tick whenever one is due.
  // `highest`: number that a job was given, by a record beside the store; 0: none.
  void start(JobId highest);
  // Commands are refused from now on; turns already taken are still committed.
  void stop();

  // Takes one turn. When it returns, its events are on disk; a refusal gives the reasons.
  boost::asio::awaitable<Result<Events>> run(Command command);
  // As run(), for many commands in one turn: each sees the effect of those before it, and a refused command
  // does not stop the others. Returns the errors of each command; none: it was done.
  boost::asio::awaitable<std::vector<Errors>> run_each(std::vector<Command> commands);
  // As run(), with the parts that the event log does not hold. Sets `text.experiment`.
  boost::asio::awaitable<Result<Events>> submit(SubmitExperiment experiment, ExperimentText text);
  // As run(), with what the event log does not hold. Returns the run's number.
  boost::asio::awaitable<Result<JobId>> track(TrackRun command, std::shared_ptr<const NewRun> run);
  // As Store::change().
  boost::asio::awaitable<Result<std::int64_t>> change(std::shared_ptr<const RunChange> change);
  // Takes a turn for what the core must know of the streams. An error says why no turn can be taken now.
  std::optional<Error> tell_core(const StreamBatch& streams);
  // tell_core(), and then the rows. The rows are committed after the turn: otherwise a crash between the two
  // could move an offset past an event that the core never learnt of. Without an error, both are on disk when
  // it returns.
  boost::asio::awaitable<std::optional<Error>> ingest(std::shared_ptr<StreamBatch> streams);
  // Returns when every node that may know more than a restored database has reported or has been silent for
  // long enough: from then on new job numbers are unused ones. Throws Busy where kMostWaitForNodes callers
  // wait, or where the daemon stops.
  static constexpr int kMostWaitForNodes = 256;
  boost::asio::awaitable<void> heard();
  void stop_waiting() { waits_end_ = true; }
  // Returns when every turn taken so far is on disk. Throws NotDurable where the disk refuses them.
  boost::asio::awaitable<void> durable();

  const ClusterState& state() const { return state_; }
  const Plan& plan() const { return plan_; }  // of the last turn
  const LoopCounters& counters() const { return counters_; }
  Time now() const { return clock_.now(); }
  std::string waiting_reason(JobId job) const;
  // The secret of an attempt that has not ended; "" for any other.
  std::string secret(AttemptId attempt) const;

  // on_decided: called in the turn, before it is on disk. on_committed: called once it is.
  void on_decided(Listener listener) { decided_listeners_.push_back(std::move(listener)); }
  void on_committed(Listener listener) { committed_listeners_.push_back(std::move(listener)); }
  // Called when the rows of streams are on disk.
  void on_ingested(NewsListener listener) { ingested_listeners_.push_back(std::move(listener)); }

 private:
  std::optional<Error> refusal() const;
  struct Texts {  // what the event log does not hold
    std::optional<ExperimentText> experiment = {};
    std::shared_ptr<const NewRun> run = {};
  };
  Result<Events> take_turn(const Command& command, Texts texts);
  std::vector<Errors> take_turn(const std::vector<Command>& commands);
  Events end_turn(Events events, Time now, Texts texts);
  std::vector<AttemptSecret> keep_secrets(const Events& events);
  void commit(const Events& events, Texts texts, std::vector<WaitMark> waits);
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
