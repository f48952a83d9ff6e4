#include "coordinator/api/live_feed.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <nlohmann/json.hpp>

#include "common/net/spawn.h"
#include "coordinator/api/json_views.h"
#include "coordinator/api/reply.h"

namespace podium {

namespace asio = boost::asio;
using asio::steady_timer;
using nlohmann::json;

namespace {

constexpr auto kAsTuple = asio::as_tuple(asio::use_awaitable);
constexpr std::chrono::milliseconds kPause{100};  // between two rounds

std::vector<JobView> read_jobs(Reader& reader, const std::set<JobId>& ids) {
  std::vector<JobView> jobs;
  for (const JobId id : ids)
    if (std::optional<JobView> job = reader.job(id)) jobs.push_back(std::move(*job));
  return jobs;
}

// Told before, but for when it was last heard of, which changes all the time.
bool same_but_for_time(const Node& a, Node b) {
  b.last_seen = a.last_seen;
  return a == b;
}

}  // namespace

LiveFeed::LiveFeed(asio::any_io_executor executor, CommandLoop& loop, WorkPool& pool, LiveStream& live)
    : executor_(std::move(executor)),
      loop_(loop),
      pool_(pool),
      live_(live),
      pending_(executor_, steady_timer::time_point::max()) {}

void LiveFeed::start() { spawn(executor_, "live feed", run()); }

void LiveFeed::stop() {
  stopped_ = true;
  wake();
}

void LiveFeed::wake() { pending_.expires_at(steady_timer::time_point::min()); }

void LiveFeed::tell(const Events& committed) {
  if (!live_.watched()) return live_.skip();
  for (const Event& event : committed)
    if (const std::optional<JobId> job = job_of(event))
      changed_jobs_.insert(*job);
    else if (const auto* changed = std::get_if<AccountChanged>(&event.body))
      changed_accounts_.insert(changed->account);
  nodes_may_have_changed_ = true;
  wake();
}

void LiveFeed::tell(const JobNews& ingested) {
  if (!live_.watched()) return live_.skip();
  publish_points(ingested);
  changed_jobs_.insert(ingested.job);
  wake();
}

void LiveFeed::publish_points(const JobNews& news) {
  if (news.points.empty()) return;
  json points = json::array();
  for (const Point& point : news.points) points.push_back(point_json(point));
  live_.publish("metrics", news.job, dump({{"job", news.job.value}, {"points", std::move(points)}}));
}

asio::awaitable<void> LiveFeed::run() {
  steady_timer pause(executor_);
  while (!stopped_) {
    co_await pending_.async_wait(kAsTuple);
    if (stopped_) break;
    pending_.expires_at(steady_timer::time_point::max());
    co_await publish_jobs();
    co_await publish_nodes();
    publish_accounts();
    pause.expires_after(kPause);
    co_await pause.async_wait(kAsTuple);
  }
}

asio::awaitable<void> LiveFeed::publish_jobs() {
  const std::set<JobId> changed = std::exchange(changed_jobs_, {});
  if (changed.empty()) co_return;
  const auto query = [changed](Reader& reader) { return read_jobs(reader, changed); };
  const std::vector<JobView> jobs = co_await pool_.read(query);
  std::vector<std::string> messages;
  for (const JobView& job : jobs) messages.push_back(dump(job_json(job, loop_)));
  co_await loop_.durable();
  for (std::size_t i = 0; i < jobs.size(); ++i) live_.publish("job", jobs[i].id, messages[i]);
}

asio::awaitable<void> LiveFeed::publish_nodes() {
  if (!std::exchange(nodes_may_have_changed_, false)) co_return;
  std::vector<std::string> messages;
  for (const auto& [id, node] : loop_.state().nodes) {
    const auto told = told_nodes_.find(id);
    if (told != told_nodes_.end() && same_but_for_time(told->second, node)) continue;
    told_nodes_[id] = node;
    messages.push_back(dump(node_json(node)));
  }
  co_await loop_.durable();
  for (const std::string& message : messages) live_.publish("node", std::nullopt, message);
}

// What was committed is on disk; what accounts hold follows from jobs, which are told of.
void LiveFeed::publish_accounts() {
  for (const std::string& account : std::exchange(changed_accounts_, {}))
    live_.publish("account", std::nullopt, dump({{"account", account}}));
}

}  // namespace podium
