#include "coordinator/api/live_feed.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <nlohmann/json.hpp>

#include "common/base/logging.h"
#include "common/model/codec.h"
#include "common/net/spawn.h"
#include "coordinator/api/json_views.h"
#include "coordinator/api/reply.h"
#include "coordinator/store/run_reader.h"

namespace podium {

namespace asio = boost::asio;
using asio::steady_timer;
using nlohmann::json;

namespace {

constexpr auto kAsTuple = asio::as_tuple(asio::use_awaitable);
constexpr std::chrono::milliseconds kPause{100};  // between two rounds
constexpr std::chrono::milliseconds kPauseAfterFailure{1000};

std::vector<JobView> read_changed_jobs(Reader& reader, const std::set<JobId>& ids) {
  std::vector<JobView> jobs;
  for (const JobId id : ids) {
    std::optional<JobView> job = reader.job(id);
    if (!job) continue;
    const auto run = job->tracked ? reader.runs().info(id) : std::nullopt;
    if (!run || !run->deleted) jobs.push_back(std::move(*job));
  }
  return jobs;
}

std::vector<NodeId> nodes_of(const Allocation& allocation) {
  std::vector<NodeId> nodes;
  for (const Placement& place : allocation.ranks) nodes.push_back(place.node);
  return nodes;
}

}  // namespace

LiveFeed::LiveFeed(asio::any_io_executor executor, CommandLoop& loop, WorkPool& pool, LiveStream& live)
    : executor_(std::move(executor)),
      loop_(loop),
      pool_(pool),
      live_(live),
      pending_(executor_, steady_timer::time_point::max()) {}

void LiveFeed::start() {
  for (const auto& [id, job] : loop_.state().jobs)
    if (job.attempt) nodes_of_jobs_[id] = nodes_of(job.attempt->allocation);
  spawn(executor_, "live feed", run());
}

void LiveFeed::stop() {
  stopped_ = true;
  wake();
}

void LiveFeed::wake() { pending_.expires_at(steady_timer::time_point::min()); }

// The stream tells of a node when an event is about it, or gives or takes its devices, and not when it was
// only heard from.
void LiveFeed::note_nodes(const Event& event, bool watched) {
  const auto* created = std::get_if<AttemptCreated>(&event.body);
  const auto* ended = std::get_if<AttemptEnded>(&event.body);
  if (created) nodes_of_jobs_[created->attempt.job] = nodes_of(created->allocation);
  const bool frees = std::holds_alternative<TaskExited>(event.body) ||
                     std::holds_alternative<TaskLost>(event.body) ||
                     std::holds_alternative<AttemptStopping>(event.body);
  if (watched && (created || ended || frees)) {
    const auto nodes = nodes_of_jobs_.find(*job_of(event));
    if (nodes != nodes_of_jobs_.end()) changed_nodes_.insert(nodes->second.begin(), nodes->second.end());
  }
  if (const auto node = node_of(event); node && watched) changed_nodes_.insert(*node);
  if (ended) nodes_of_jobs_.erase(ended->attempt.job);
}

// Whether the report says more than that the node is still there: its clock has gone off or come right, or
// its unknown tasks are others.
bool LiveFeed::says_more(const NodeSeen& now) {
  const auto is_off = [](const NodeSeen& seen) { return seen.clock && seen.clock->off(); };
  const auto [known, first] = seen_.try_emplace(now.node, now);
  const NodeSeen before = std::exchange(known->second, now);
  return first || is_off(before) != is_off(now) || before.unknown != now.unknown ||
         before.stranger != now.stranger;
}

void LiveFeed::notice(const Events& decided) {
  for (const Event& event : decided) {
    if (std::holds_alternative<SilenceForgiven>(event.body)) seen_.clear();
    const auto* seen = std::get_if<NodeSeen>(&event.body);
    const auto* adopted = std::get_if<NodeAdopted>(&event.body);
    if (!adopted && (!seen || !says_more(*seen))) continue;
    if (!live_.watched()) {
      live_.skip();
      continue;
    }
    changed_nodes_.insert(adopted ? adopted->node : seen->node);
    wake();
  }
}

void LiveFeed::follow(const Events& committed) {
  const bool watched = live_.watched();
  for (const Event& event : committed) note_nodes(event, watched);
  if (!watched) return live_.skip();
  for (const Event& event : committed)
    if (const std::optional<JobId> job = job_of(event))
      changed_jobs_.insert(*job);
    else if (const auto* changed = std::get_if<AccountChanged>(&event.body))
      changed_accounts_.insert(changed->account);
    else if (const auto* deleted = std::get_if<AccountDeleted>(&event.body))
      changed_accounts_.insert(deleted->account);
  wake();
}

void LiveFeed::add_points(const StreamNews& ingested) {
  for (const auto& [job, metrics] : ingested) {
    if (!live_.watched()) {
      live_.skip();
      continue;
    }
    json points = json::array();
    for (const auto& [key, series] : metrics)
      for (const SeriesPoint& point : series) points.push_back(point_json(key, point));
    if (!points.empty())
      live_.publish("metrics", job, dump({{"job", job.value}, {"points", std::move(points)}}));
    changed_jobs_.insert(job);
    wake();
  }
}

asio::awaitable<void> LiveFeed::run() {
  steady_timer pause(executor_);
  while (!stopped_) {
    co_await pending_.async_wait(kAsTuple);
    if (stopped_) break;
    pending_.expires_at(steady_timer::time_point::max());
    pause.expires_after(co_await publish() ? kPause : kPauseAfterFailure);
    co_await pause.async_wait(kAsTuple);
  }
}

// Returns false where something could not be told. It is told again then, for the feed must outlive any error
// of the store.
asio::awaitable<bool> LiveFeed::publish() {
  const std::set<JobId> jobs = std::exchange(changed_jobs_, {});
  const std::set<NodeId> nodes = std::exchange(changed_nodes_, {});
  std::string failure;
  try {
    co_await publish_jobs(jobs);
    co_await publish_nodes(nodes);
    publish_accounts();
  } catch (const std::exception& error) {
    failure = error.what();
  }
  if (failure.empty()) co_return true;
  spdlog::error("live feed: {}; trying again", failure);
  changed_jobs_.insert(jobs.begin(), jobs.end());
  changed_nodes_.insert(nodes.begin(), nodes.end());
  wake();
  co_return false;
}

asio::awaitable<void> LiveFeed::publish_jobs(std::set<JobId> changed) {
  if (changed.empty()) co_return;
  const std::int64_t revision = live_.take_id();
  const auto query = [changed](Reader& reader) { return read_changed_jobs(reader, changed); };
  const std::vector<JobView> jobs = co_await pool_.read(query);
  std::vector<std::string> messages;
  for (const JobView& job : jobs) messages.push_back(dump(job_json(job, loop_, revision)));
  co_await loop_.durable();
  for (std::size_t i = 0; i < jobs.size(); ++i) live_.publish("job", jobs[i].id, messages[i]);
}

asio::awaitable<void> LiveFeed::publish_nodes(std::set<NodeId> changed) {
  const std::int64_t revision = live_.take_id();
  std::vector<std::string> messages;
  bool left = false;  // a list that is fetched again lacks it
  for (const NodeId& id : changed)
    if (const Node* node = find_node(loop_.state(), id))
      messages.push_back(dump(node_json(*node, has_heard(id), revision)));
    else
      left = true;
  if (messages.empty() && !left) co_return;
  co_await loop_.durable();
  for (const std::string& message : messages) live_.publish("node", std::nullopt, message);
  if (left) live_.publish("reset", std::nullopt, "{}");
}

// Only committed changes come here. What accounts hold follows from jobs, and the stream tells of those.
void LiveFeed::publish_accounts() {
  for (const std::string& account : std::exchange(changed_accounts_, {}))
    live_.publish("account", std::nullopt, dump({{"account", account}}));
}

}  // namespace podium
