#include "coordinator/api/operator_metrics.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "coordinator/api/benchmarks.h"
#include "coordinator/core/state/blocker.h"
#include "coordinator/tracking/board.h"

namespace podium {
namespace {

constexpr int kCostOfReading = 50;  // it takes one part in so many of a reader's time
constexpr Duration kLongestKept = std::chrono::minutes(1);
constexpr Duration kBenchmarksOf = std::chrono::days(90);  // those that nobody has reached since are left out

double seconds_of(Duration duration) { return std::chrono::duration<double>(duration).count(); }

StoredFigures read_figures(Reader& reader, Time now) {
  StoredFigures figures;
  LedgerFilter filter{.by = LedgerBy::day};
  filter.first_day = ledger_day(to_millis(now)) - 1;
  figures.ledger = reader.ledger_table(filter, now).all.sums;
  for (const auto& [identity, runs] : read_board(reader)) {
    if (runs.back().reached < now - kBenchmarksOf) continue;  // they are in the order of their targets
    const std::string benchmark = benchmark_id(nlohmann::json::parse(identity));
    figures.reached[benchmark] = std::ssize(runs);
    for (const BoardClass& each : board_classes(runs))
      figures.records.push_back({benchmark, each.device, each.devices, each.records.back().seconds});
  }
  figures.damage = reader.damage();
  return figures;
}

// Whether it would start if enough devices were free. Those that an operator, an account's rules or a
// reservation keep waiting are not the queue's fault.
bool waits_for_devices(BlockerCode code) {
  switch (code) {
    case BlockerCode::devices:
    case BlockerCode::allocation:
    case BlockerCode::running:
    case BlockerCode::avoided:
    case BlockerCode::queue:
    case BlockerCode::planning:
      return true;
    default:
      return false;
  }
}

std::map<std::string, std::int64_t> free_devices(const ClusterState& state) {
  std::map<std::string, std::int64_t> free;
  for (const auto& [id, node] : state.nodes)
    for (const DeviceSlot& slot : node.devices)
      free[slot.device.kind] += node.usable() && !slot.holder && slot.device.health.empty() ? 1 : 0;
  return free;
}

void add_disk(PrometheusText& page, const Store& store) {
  const std::optional<DiskFigures> disk = store.disk();
  if (!disk) return;
  page.gauge("podium_home_disk_free_bytes", "Free space on the disk of the coordinator's home.");
  page.sample({}, static_cast<double>(disk->free));
  page.gauge("podium_home_disk_size_bytes", "Size of the disk of the coordinator's home.");
  page.sample({}, static_cast<double>(disk->size));
  page.gauge("podium_home_disk_reserve_bytes",
             "Free space below which submissions, logs and metrics are refused.");
  page.sample({}, static_cast<double>(disk->reserve));
}

// When the machine was started, in seconds since 1970; 0: it does not tell.
double boot_time() {
  std::ifstream stat("/proc/stat");
  for (std::string word; stat >> word;)
    if (word == "btime" && stat >> word) return std::stod(word);
  return 0;
}

// Fields of /proc/self/stat count from the end of the program's name, which may hold spaces.
void add_resources(PrometheusText& page) {
  std::ifstream stat("/proc/self/stat");
  std::string text(std::istreambuf_iterator<char>(stat), {});
  std::istringstream fields(text.substr(std::min(text.rfind(')') + 1, text.size())));
  const std::vector<std::string> values(std::istream_iterator<std::string>(fields), {});
  constexpr std::size_t kUserTicks = 11, kSystemTicks = 12, kStartTicks = 19, kResidentPages = 21;
  if (values.size() <= kResidentPages) return;
  const auto ticks_a_second = static_cast<double>(::sysconf(_SC_CLK_TCK));
  page.counter("process_cpu_seconds_total", "Processor time of the coordinator.");
  page.sample({}, (std::stod(values[kUserTicks]) + std::stod(values[kSystemTicks])) / ticks_a_second);
  page.gauge("process_resident_memory_bytes", "Memory of the coordinator.");
  page.sample({}, std::stod(values[kResidentPages]) * static_cast<double>(::sysconf(_SC_PAGESIZE)));
  page.gauge("process_start_time_seconds", "When the coordinator started, in seconds since 1970.");
  page.sample({}, boot_time() + std::stod(values[kStartTicks]) / ticks_a_second);
}

}  // namespace

awaitable<std::shared_ptr<const StoredFigures>> stored_figures(Api& api) {
  const auto begin = std::chrono::steady_clock::now();
  if (api.figures && begin < api.figures_until) co_return api.figures;
  if (!api.figures) api.figures = std::make_shared<const StoredFigures>();
  const Time now = api.loop.now();
  try {
    api.figures = std::make_shared<const StoredFigures>(
        co_await api.pool.read([now](Reader& reader) { return read_figures(reader, now); }));
  } catch (const std::exception& error) {
    spdlog::warn("/metrics tells the ledger and the records of before: {}", error.what());
  }
  const auto end = std::chrono::steady_clock::now();
  api.figures_until =
      end + std::min<std::chrono::steady_clock::duration>(kCostOfReading * (end - begin), kLongestKept);
  co_return api.figures;
}

// A node's silence is known once it has reported to this process.
void add_node_states(PrometheusText& page, const Api& api) {
  const ClusterState& state = api.loop.state();
  std::map<NodeState, int> nodes{{NodeState::up, 0}, {NodeState::unknown, 0}, {NodeState::lost, 0}};
  for (const auto& [id, node] : state.nodes) ++nodes[node.state];
  page.gauge("podium_nodes", "Nodes that have joined, by state.");
  for (const auto& [node_state, count] : nodes) page.sample({{"state", to_string(node_state)}}, count);
  page.gauge("podium_node_state", "1 for the state that a node is in; its other states are not told.");
  for (const auto& [id, node] : state.nodes)
    page.sample({{"node", id.value}, {"state", to_string(node.state)}}, 1);
  page.gauge("podium_node_drained", "Whether an operator keeps jobs from starting on a node.");
  for (const auto& [id, node] : state.nodes) page.sample({{"node", id.value}}, node.drain ? 1 : 0);
  page.gauge("podium_node_silence_seconds",
             "Time since a node last reported, by the cluster's clock, of nodes that have reported since the "
             "coordinator started.");
  for (const auto& [id, node] : state.nodes)
    if (api.feed.has_heard(id))
      page.sample({{"node", id.value}}, seconds_of(api.loop.now() - node.last_seen));
}

void add_queue(PrometheusText& page, const ClusterState& state, const Plan& plan, Time now) {
  const std::map<std::string, std::int64_t> free = free_devices(state);
  std::map<std::string, Time> oldest;
  std::map<std::string, std::int64_t> fitting;
  for (const auto& [kind, devices] : free) oldest[kind] = now, fitting[kind] = 0;
  for (const auto& [kind, queue] : state.indexes.queues) {
    Time& submitted = oldest.try_emplace(kind, now).first->second;
    const auto room = free.find(kind);
    for (const auto& [shape, keys] : queue) {
      const bool fits = room != free.end() && shape.shape.devices <= room->second;
      for (const QueueKey& key : keys) {
        if (key.submitted < submitted && state.jobs.at(key.job).attempts == 0) submitted = key.submitted;
        if (!fits) continue;
        const auto blocker = plan.blocked.find(key.job);
        if (blocker == plan.blocked.end() || waits_for_devices(blocker->second.code)) ++fitting[kind];
      }
    }
  }
  page.gauge("podium_queue_oldest_wait_seconds",
             "Time since the submission of the oldest job in the queue that has never started, by kind of "
             "device; 0 where there is none.");
  for (const auto& [kind, submitted] : oldest) page.sample({{"kind", kind}}, seconds_of(now - submitted));
  page.gauge("podium_queue_fitting_jobs",
             "Jobs in the queue that ask for no more devices than are free, and that no rule of an account, "
             "reservation or window keeps waiting.");
  for (const auto& [kind, jobs] : fitting) page.sample({{"kind", kind}}, static_cast<double>(jobs));
}

// All buckets, so that a rule may divide them.
void add_ledger(PrometheusText& page, const LedgerSums& sums) {
  std::map<LedgerKind, double> buckets;
  for (int bucket = 0; bucket <= static_cast<int>(LedgerKind::unknown); ++bucket)
    buckets[static_cast<LedgerKind>(bucket)] = 0;
  for (const auto& [key, device_ms] : sums) buckets[key.first] += static_cast<double>(device_ms) / 1000;
  page.gauge("podium_ledger_device_seconds",
             "Device time of today and yesterday (UTC), by what it went into; all but waiting and "
             "backing_off were held.");
  for (const auto& [bucket, seconds] : buckets) page.sample({{"bucket", to_string(bucket)}}, seconds);
  const std::optional<double> share = goodput(sums);
  if (!share) return;
  page.gauge("podium_goodput_ratio",
             "Share of the device time held today and yesterday (UTC) that went into steps that count.");
  page.sample({}, *share);
}

void add_records(PrometheusText& page, const StoredFigures& figures) {
  page.gauge("podium_record_time_to_train_seconds",
             "Best time to train of a benchmark on one model and number of devices.");
  for (const auto& record : figures.records)
    page.sample({{"benchmark", record.benchmark},
                 {"device_model", record.device_model},
                 {"devices", std::to_string(record.devices)}},
                record.seconds);
  page.gauge("podium_runs_reached_target", "Runs of a benchmark that have reached their target.");
  for (const auto& [benchmark, runs] : figures.reached)
    page.sample({{"benchmark", benchmark}}, static_cast<double>(runs));
}

void add_webhooks(PrometheusText& page, const std::vector<WebhookStatus>& webhooks) {
  const auto count = [&page](const WebhookStatus& of, const char* label, const char* value,
                             std::int64_t number) {
    page.sample({{"webhook", of.name}, {label, value}}, static_cast<double>(number));
  };
  page.counter("podium_webhook_attempts_total", "Attempts to deliver a notice, by what became of them.");
  for (const WebhookStatus& each : webhooks) {
    count(each, "outcome", "delivered", each.delivered);
    count(each, "outcome", "failed", each.failed);
  }
  page.gauge("podium_webhook_queue_notices", "Notices that a webhook has not taken yet.");
  for (const WebhookStatus& each : webhooks)
    page.sample({{"webhook", each.name}}, static_cast<double>(each.waiting));
  page.counter("podium_webhook_dropped_total",
               "Notices that are not delivered any more: the queue was full, or a day has passed.");
  for (const WebhookStatus& each : webhooks) {
    count(each, "reason", "expired", each.expired);
    count(each, "reason", "queue_full", each.lost);
  }
}

void add_damage(PrometheusText& page, const DamageView& damage) {
  page.gauge("podium_damaged_chunks",
             "Chunks of metric points that the database could not read and that were set aside.");
  page.sample({}, static_cast<double>(damage.chunks));
  page.gauge("podium_damaged_points", "Metric points in damaged chunks; curves lack them.");
  page.sample({}, static_cast<double>(damage.points));
}

void add_process(PrometheusText& page, const Api& api) {
  add_disk(page, api.store);
  add_resources(page);
  page.gauge("podium_build_info", "Always 1; its label is the coordinator's version.");
  page.sample({{"version", api.options.version}}, 1);
}

}  // namespace podium
