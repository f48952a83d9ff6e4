#include "coordinator/loop/command_loop.h"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <nlohmann/json.hpp>

#include "common/net/spawn.h"
#include "common/net/token.h"
#include "coordinator/loop/work_pool.h"

namespace podium {
namespace {

namespace asio = boost::asio;
using asio::awaitable;
using Steady = std::chrono::steady_clock;

constexpr auto kAsTuple = asio::as_tuple(asio::use_awaitable);
constexpr std::uint64_t kMaxTurnsInFlight = 4096;
constexpr std::chrono::seconds kLookForFailureEvery{1};
constexpr std::chrono::milliseconds kLookForNodesEvery{50};
constexpr Duration kLongestTick = std::chrono::seconds(5);
constexpr Duration kShortestTick = std::chrono::milliseconds(5);  // a plan that is due at once must not spin

}  // namespace

CommandLoop::CommandLoop(asio::any_io_executor executor, Store& store, const Clock& clock, Loaded loaded)
    : executor_(std::move(executor)),
      store_(store),
      clock_(clock),
      state_(std::move(loaded.state)),
      waits_(std::move(loaded.waits)),
      tick_timer_(executor_, Steady::time_point::max()) {
  for (AttemptSecret& known : loaded.secrets) secrets_[known.attempt] = std::move(known.secret);
}

void CommandLoop::start(JobId highest) {
  const Result<Events> up = take_turn(CoordinatorUp{highest}, {});
  PODIUM_CHECK(up.ok(), describe(up.errors()));
  spawn(executor_, "command loop", tick());
}

void CommandLoop::stop() {
  stopped_ = true;
  tick_timer_.cancel();
}

// Why no turn can be taken now.
std::optional<Error> CommandLoop::refusal() const {
  if (stopped_) return Error{ErrorCode::unavailable, "the coordinator is shutting down; try again soon", ""};
  if (turns_taken_ - turns_committed_ >= kMaxTurnsInFlight)
    return Error{ErrorCode::unavailable, "the coordinator's disk does not keep up; try again soon", ""};
  return store_.failure();
}

Result<Events> CommandLoop::take_turn(const Command& command, Texts texts) {
  if (auto error = refusal()) return std::move(*error);
  const Time now = clock_.now();
  Result<Events> decided = handle(state_, command, now);
  if (!decided) return decided;
  apply_all(state_, *decided);
  return end_turn(std::move(decided).value(), now, std::move(texts));
}

std::vector<Errors> CommandLoop::take_turn(const std::vector<Command>& commands) {
  std::vector<Errors> errors(commands.size());
  if (const auto error = refusal()) {
    std::ranges::fill(errors, Errors{*error});
    return errors;
  }
  const Time now = clock_.now();
  Events events;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const Result<Events> decided = handle(state_, commands[i], now);
    if (!decided) {
      errors[i] = decided.errors();
      continue;
    }
    apply_all(state_, *decided);
    events.insert(events.end(), decided->begin(), decided->end());
  }
  end_turn(std::move(events), now, {});
  return errors;
}

// Plans, after `events` have been applied, and commits everything. Returns the events of the whole turn.
Events CommandLoop::end_turn(Events events, Time now, Texts texts) {
  foremost_.reset();
  const bool plans = plan_.stale(state_, now);
  if (plans) {
    const auto begin = Steady::now();
    plan_ = make_plan(state_, now);
    counters_.plans.add(std::chrono::duration<double>(Steady::now() - begin).count());
    counters_.count(plan_);
    Events enacted = enact(state_, plan_, now);
    apply_all(state_, enacted);
    plan_.carried_out(state_);
    std::move(enacted.begin(), enacted.end(), std::back_inserter(events));
  }
  counters_.count(events);
  commit(events, std::move(texts), waits_.look(state_, plan_, plans, events, now));
  schedule_tick();
  for (const Listener& listener : decided_listeners_) listener(events);
  return events;
}

std::vector<AttemptSecret> CommandLoop::keep_secrets(const Events& events) {
  std::vector<AttemptSecret> made;
  for (const Event& event : events) {
    if (const auto* created = std::get_if<AttemptCreated>(&event.body)) {
      made.push_back({created->attempt, random_hex(32)});
      secrets_[created->attempt] = made.back().secret;
    } else if (const auto* ended = std::get_if<AttemptEnded>(&event.body)) {
      secrets_.erase(ended->attempt);
    }
  }
  return made;
}

void CommandLoop::commit(const Events& events, Texts texts, std::vector<WaitMark> waits) {
  Commit turn;
  for (const Event& event : events) {
    if (const auto* created = std::get_if<ExperimentCreated>(&event.body); created && texts.experiment)
      texts.experiment->experiment = created->experiment;
  }
  turn.secrets = keep_secrets(events);
  turn.experiment = std::move(texts.experiment);
  turn.run = std::move(texts.run);
  std::copy_if(events.begin(), events.end(), std::back_inserter(turn.events), is_durable);
  turn.waits = std::move(waits);
  if (turn.events.empty() && turn.waits.empty()) return;
  if (store_.wants_snapshot()) turn.snapshot = std::make_shared<const ClusterState>(state_);
  Events durable_events = turn.events;
  store_.commit(std::move(turn), [this, number = ++turns_taken_, kept = std::move(durable_events)] {
    committed(number, kept);
  });
}

void CommandLoop::committed(std::uint64_t turn, const Events& events) {
  turns_committed_ = turn;
  const auto end = waiting_for_disk_.upper_bound(turn);
  for (auto it = waiting_for_disk_.begin(); it != end; ++it) it->second->cancel();
  waiting_for_disk_.erase(waiting_for_disk_.begin(), end);
  for (const Listener& listener : committed_listeners_) listener(events);
}

awaitable<void> CommandLoop::durable() {
  const std::uint64_t turn = turns_taken_;
  asio::steady_timer wake(executor_);
  while (turns_committed_ < turn) {
    if (const auto failure = store_.failure()) throw NotDurable(failure->message);
    wake.expires_after(kLookForFailureEvery);
    const Waiting::iterator mine = waiting_for_disk_.emplace(turn, &wake);
    co_await wake.async_wait(kAsTuple);
    if (turns_committed_ < turn) waiting_for_disk_.erase(mine);
  }
}

awaitable<void> CommandLoop::heard() {
  if (waiting_for_nodes_ >= kMostWaitForNodes)
    throw Busy("many submissions wait already until the nodes have reported; submit again soon");
  ++waiting_for_nodes_;
  asio::steady_timer pause(executor_);
  while (!waits_end_ && awaits_reports(state_)) {
    pause.expires_after(kLookForNodesEvery);
    co_await pause.async_wait(kAsTuple);
  }
  --waiting_for_nodes_;
  if (waits_end_) throw Busy("the coordinator is stopping; submit again soon");
}

// A command may be refused, because its job may have ended meanwhile. The rows are taken all the same.
std::optional<Error> CommandLoop::tell_core(const StreamBatch& streams) {
  if (streams.for_core.empty()) return std::nullopt;
  for (const Errors& errors : take_turn(streams.for_core))
    for (const Error& error : errors)
      if (error.code == ErrorCode::unavailable) return error;  // the loop's own word: the core was not asked
  return std::nullopt;
}

awaitable<std::optional<Error>> CommandLoop::ingest(std::shared_ptr<StreamBatch> streams) {
  if (auto error = tell_core(*streams)) co_return error;
  const auto error = co_await asio::async_initiate<decltype(asio::use_awaitable), void(std::optional<Error>)>(
      [this, &streams](auto handler) {
        // Shared because the store's callback is a copyable std::function.
        auto shared = std::make_shared<decltype(handler)>(std::move(handler));
        store_.ingest(streams, [shared](const std::optional<Error>& failure) { (*shared)(failure); });
      },
      asio::use_awaitable);
  if (!error)
    for (const NewsListener& listener : ingested_listeners_) listener(streams->news);
  co_return error;
}

awaitable<Result<Events>> CommandLoop::run(Command command) {
  Result<Events> events = take_turn(command, {});
  co_await durable();
  co_return events;
}

awaitable<std::vector<Errors>> CommandLoop::run_each(std::vector<Command> commands) {
  std::vector<Errors> errors = take_turn(commands);
  co_await durable();
  co_return errors;
}

awaitable<Result<Events>> CommandLoop::submit(SubmitExperiment experiment, ExperimentText text) {
  Result<Events> events = take_turn(std::move(experiment), {std::move(text)});
  co_await durable();
  co_return events;
}

awaitable<Result<JobId>> CommandLoop::track(TrackRun command, std::shared_ptr<const NewRun> run) {
  const Result<Events> events = take_turn(std::move(command), {{}, std::move(run)});
  co_await durable();
  if (!events) co_return events.errors();
  for (const Event& event : *events)
    if (const auto* tracked = std::get_if<RunTracked>(&event.body)) co_return tracked->job;
  PODIUM_CHECK(false, "a run that was not refused has a number");
}

awaitable<Result<std::int64_t>> CommandLoop::change(std::shared_ptr<const RunChange> change) {
  co_return co_await asio::async_initiate<decltype(asio::use_awaitable), void(Result<std::int64_t>)>(
      [this, &change](auto handler) {
        // Shared because the store's callback is a copyable std::function.
        auto shared = std::make_shared<decltype(handler)>(std::move(handler));
        store_.change(change, [shared](const Result<std::int64_t>& result) { (*shared)(result); });
      },
      asio::use_awaitable);
}

std::string CommandLoop::waiting_reason(JobId job) const {
  if (!foremost_) foremost_.emplace(state_, plan_, clock_.now());
  return podium::waiting_reason(state_, plan_, *foremost_, job);
}

std::string CommandLoop::secret(AttemptId attempt) const {
  const auto known = secrets_.find(attempt);
  return known == secrets_.end() ? std::string() : known->second;
}

void CommandLoop::schedule_tick() {
  const Time now = clock_.now();
  Duration wait = kLongestTick;
  for (const std::optional<Time> due : {next_tick(state_, now), plan_.stale_at})
    if (due) wait = std::clamp(*due - now, kShortestTick, wait);
  const auto due = Steady::now() + wait;
  if (due < tick_timer_.expiry()) tick_timer_.expires_at(due);
}

awaitable<void> CommandLoop::tick() {
  while (!stopped_) {
    const auto [moved] = co_await tick_timer_.async_wait(kAsTuple);
    if (moved || stopped_) continue;  // an earlier time was set, or there is no more to do
    tick_timer_.expires_at(Steady::time_point::max());
    const Result<Events> ticked = take_turn(Tick{}, {});
    if (!ticked) tick_timer_.expires_after(kLongestTick);  // the disk is behind
  }
}

}  // namespace podium
