#include "coordinator/api/operator_metrics.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "coordinator/tracking/board.h"

namespace podium {
namespace {

double seconds_of(Duration duration) { return std::chrono::duration<double>(duration).count(); }
double seconds_of(Time time) { return static_cast<double>(to_millis(time)) / 1000; }

void add_disk(PrometheusText& page, const std::filesystem::path& home) {
  struct statvfs disk {};
  if (::statvfs(home.c_str(), &disk) != 0) return;
  const auto block = static_cast<double>(disk.f_frsize);
  page.gauge("podium_home_disk_free_bytes", "Free space on the disk of the coordinator's home.");
  page.sample({}, block * static_cast<double>(disk.f_bavail));
  page.gauge("podium_home_disk_size_bytes", "Size of the disk of the coordinator's home.");
  page.sample({}, block * static_cast<double>(disk.f_blocks));
}

// Fields of /proc/self/stat count from the end of the program's name, which may hold spaces.
void add_resources(PrometheusText& page) {
  std::ifstream stat("/proc/self/stat");
  std::string text(std::istreambuf_iterator<char>(stat), {});
  std::istringstream fields(text.substr(std::min(text.rfind(')') + 1, text.size())));
  const std::vector<std::string> values(std::istream_iterator<std::string>(fields), {});
  constexpr std::size_t kUserTicks = 11, kSystemTicks = 12, kResidentPages = 21;
  if (values.size() <= kResidentPages) return;
  const auto ticks_a_second = static_cast<double>(::sysconf(_SC_CLK_TCK));
  page.counter("process_cpu_seconds_total", "Processor time of the coordinator.");
  page.sample({}, (std::stod(values[kUserTicks]) + std::stod(values[kSystemTicks])) / ticks_a_second);
  page.gauge("process_resident_memory_bytes", "Memory of the coordinator.");
  page.sample({}, std::stod(values[kResidentPages]) * static_cast<double>(::sysconf(_SC_PAGESIZE)));
}

}  // namespace

StoredFigures read_figures(Reader& reader, Time now) {
  StoredFigures figures;
  LedgerFilter filter{.by = LedgerBy::day};
  filter.first_day = to_millis(now) / kLedgerDay.count() - 1;
  figures.ledger = reader.ledger_table(filter, now).all.sums;
  std::map<std::string, std::vector<BoardRun>> runs;  // by identity
  for (BoardRow& row : reader.board()) runs[row.identity].push_back(std::move(row.run));
  for (const auto& [identity, of_benchmark] : runs) {
    const std::string benchmark = benchmark_id(nlohmann::json::parse(identity));
    figures.reached[benchmark] = std::ssize(of_benchmark);
    for (const BoardClass& each : board_classes(of_benchmark))
      figures.records.push_back({benchmark, each.device, each.devices, each.records.back().seconds});
  }
  figures.damage = reader.damage();
  return figures;
}

void add_node_states(PrometheusText& page, const ClusterState& state) {
  std::map<NodeState, int> nodes{{NodeState::up, 0}, {NodeState::unknown, 0}, {NodeState::lost, 0}};
  for (const auto& [id, node] : state.nodes) ++nodes[node.state];
  page.gauge("podium_nodes", "Nodes that have joined, by state.");
  for (const auto& [node_state, count] : nodes) page.sample({{"state", to_string(node_state)}}, count);
  page.gauge("podium_node_state", "1 for the state that a node is in, 0 for the others.");
  for (const auto& [id, node] : state.nodes)
    for (const auto& [each, count] : nodes)
      page.sample({{"node", id.value}, {"state", to_string(each)}}, node.state == each ? 1 : 0);
  page.gauge("podium_node_drained", "Whether an operator keeps jobs from starting on a node.");
  for (const auto& [id, node] : state.nodes) page.sample({{"node", id.value}}, node.drain ? 1 : 0);
  page.gauge("podium_node_last_seen_timestamp_seconds",
             "When a node last reported, in seconds since 1970, by the cluster's time.");
  for (const auto& [id, node] : state.nodes) page.sample({{"node", id.value}}, seconds_of(node.last_seen));
}

void add_waits(PrometheusText& page, const ClusterState& state, Time now) {
  std::map<std::string, Time> oldest;
  for (const auto& [key, pool] : state.indexes.pools) oldest[key.kind] = now;
  for (const auto& [kind, queue] : state.indexes.queues) {
    Time& submitted = oldest.try_emplace(kind, now).first->second;
    for (const auto& [shape, keys] : queue)
      for (const QueueKey& key : keys)
        if (key.submitted < submitted && state.jobs.at(key.job).attempts == 0) submitted = key.submitted;
  }
  page.gauge("podium_queue_oldest_wait_seconds",
             "Time since the submission of the oldest job in the queue that has never started, by kind of "
             "device; 0 where there is none.");
  for (const auto& [kind, submitted] : oldest) page.sample({{"kind", kind}}, seconds_of(now - submitted));
}

void add_ledger(PrometheusText& page, const LedgerSums& sums) {
  std::map<LedgerKind, double> by_kind;
  for (const auto& [key, device_ms] : sums) by_kind[key.first] += static_cast<double>(device_ms) / 1000;
  page.gauge("podium_ledger_device_seconds",
             "Device time of today and yesterday (UTC), by what it went into; all but waiting and "
             "backing_off were held.");
  for (const auto& [kind, seconds] : by_kind) page.sample({{"kind", to_string(kind)}}, seconds);
  const std::optional<double> share = goodput(sums);
  if (!share) return;
  page.gauge("podium_goodput_ratio",
             "Share of the device time held today and yesterday (UTC) that went into steps that count.");
  page.sample({}, *share);
}

void add_records(PrometheusText& page, const StoredFigures& figures) {
  page.gauge("podium_record_time_to_train_seconds",
             "Best time to train of a benchmark on one kind and number of devices.");
  for (const auto& record : figures.records)
    page.sample({{"benchmark", record.benchmark},
                 {"device", record.device},
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
  add_disk(page, api.options.home);
  add_resources(page);
  page.gauge("process_start_time_seconds", "When the coordinator started, in seconds since 1970.");
  page.sample({}, seconds_of(api.started));
  page.gauge("podium_build_info", "Always 1; its label is the coordinator's version.");
  page.sample({{"version", api.options.version}}, 1);
}

}  // namespace podium
