#include "cli/simulate/scenario.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <thread>

#include "common/model/sizes.h"

namespace podium::cli {
namespace {

constexpr Duration kLeastWalltime = std::chrono::minutes(1);

// A number in [0, 1) that depends on the line alone (SplitMix64): people over-estimate, each in their own
// way, and the same way in every run.
double whim_of(int line) {
  std::uint64_t z = static_cast<std::uint64_t>(line) * 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

Duration walltime_of(const TraceRow& row, double factor) {
  if (row.walltime) return *row.walltime;
  const double asked = static_cast<double>(row.work.count()) * (1 + (factor - 1) * whim_of(row.line));
  return std::max(Duration(static_cast<std::int64_t>(asked)), kLeastWalltime);
}

// The row's account, else its partition; what a name may not hold becomes '_'.
std::string account_of(const TraceRow& row) {
  const std::string& given = row.account.empty() ? row.partition : row.account;
  if (given.empty()) return std::string(kDefaultAccount);
  if (!bad_account_name(given)) return given;
  std::string name;
  for (const char c : given) name += bad_account_name(std::string(1, c)) ? '_' : c;
  return bad_account_name(name) ? name.substr(0, 100) : name;
}

TraceJob job_of(const TraceRow& row, const std::string& kind, double walltime_factor) {
  TraceJob job{row.submit, row.work, {}};
  job.request.name = "line " + std::to_string(row.line);
  job.request.devices = row.devices;
  job.request.per_node = row.per_node;
  job.request.kind = kind;
  job.request.priority = row.priority;
  job.request.walltime = walltime_of(row, walltime_factor);
  for (int size = row.devices; size <= row.max_devices && job.request.sizes.size() < kMostSizes;
       size += row.devices)
    job.request.sizes.push_back(size);
  if (job.request.sizes.size() == 1) job.request.sizes.clear();
  job.request.account = account_of(row);
  return job;
}

ClusterState state_of(const Partition& partition, const RunOptions& options, Time begin) {
  ClusterState state;
  state.scheduling = options.scheduling;
  state.clock = begin;
  for (const auto& [name, rules] : options.accounts) apply(state, {begin, AccountChanged{name, rules}});
  std::map<std::string, int> numbers;  // of the nodes of each kind
  const auto join = [&](const NodeGroup& group) {
    int& number = numbers[group.kind];
    for (NodeDescription& node : nodes_of(group, number + 1))
      apply(state, {begin, NodeJoined{std::move(node)}});
    number += group.count;
  };
  for (const NodeGroup& group : partition.groups) join(group);
  NodeGroup more = options.added.value_or(partition.groups.front());
  if (!partition.name.empty()) more.labels["partition"] = partition.name;
  more.count = options.add_nodes;
  join(more);
  return state;
}

// Whole nodes like `like`: enough for the largest gang, and for the jobs' device time spread evenly.
NodeGroup derive_nodes(NodeGroup like, const std::string& name, const std::vector<TraceRow>& rows,
                       const std::vector<std::size_t>& members) {
  std::int64_t largest = 0;
  double device_time = 0;
  Time last_end = rows[members.front()].submit;
  for (const std::size_t member : members) {
    const TraceRow& row = rows[member];
    largest = std::max<std::int64_t>(largest, row.devices);
    device_time += static_cast<double>(row.work.count()) * row.devices;
    last_end = std::max(last_end, row.submit + row.work);
  }
  const auto span =
      static_cast<double>(std::max<std::int64_t>((last_end - rows[members.front()].submit).count(), 1));
  const std::int64_t devices = std::max(largest, static_cast<std::int64_t>(device_time / span) + 1);
  like.count = static_cast<int>((devices + like.devices - 1) / like.devices);
  like.partition = like.labels["partition"] = name;
  return like;
}

bool knows_partitions(const ClusterFile& cluster) {
  return std::ranges::any_of(cluster.groups, [](const NodeGroup& group) { return !group.partition.empty(); });
}

Replay run_partition(const Partition& partition, const std::vector<TraceRow>& rows, const RunOptions& options,
                     const std::function<void(std::size_t)>& ended) {
  const std::string& kind = partition.groups.front().device_kind;
  std::vector<TraceJob> trace;
  for (const std::size_t row : partition.rows)
    trace.push_back(job_of(rows[row], kind, options.walltime_factor));
  ReplayOptions replaying{options.model, std::nullopt, nullptr};
  const Time begin = rows.front().submit;
  if (options.until) replaying.until = begin + *options.until;
  std::size_t told = 0;
  replaying.progress = [&](std::size_t over) {
    ended(over - told);
    told = over;
  };
  return replay(state_of(partition, options, begin), trace, replaying);
}

Replay merged(std::vector<Replay> parts, const std::vector<Partition>& partitions, std::size_t rows) {
  Replay whole;
  whole.jobs.resize(rows);
  for (std::size_t p = 0; p < parts.size(); ++p) {
    for (std::size_t i = 0; i < parts[p].jobs.size(); ++i)
      whole.jobs[partitions[p].rows[i]] = std::move(parts[p].jobs[i]);
    whole.load.insert(whole.load.end(), parts[p].load.begin(), parts[p].load.end());
    whole.devices += parts[p].devices;
    whole.blocked_idle += parts[p].blocked_idle;
  }
  std::ranges::stable_sort(whole.load, {}, &LoadChange::at);
  return whole;
}

}  // namespace

std::int64_t Partition::devices() const {
  std::int64_t devices = 0;
  for (const NodeGroup& group : groups) devices += std::int64_t{group.count} * group.devices;
  return devices;
}

std::vector<Partition> partitions_of(const ClusterFile& cluster, const TraceFile& trace) {
  if (!trace.has_partitions || !knows_partitions(cluster)) {
    Partition all{"", cluster.groups, {}, false};
    for (std::size_t row = 0; row < trace.rows.size(); ++row) all.rows.push_back(row);
    return {std::move(all)};
  }
  std::map<std::string, Partition> named;
  for (const NodeGroup& group : cluster.groups) named[group.partition].groups.push_back(group);
  for (std::size_t row = 0; row < trace.rows.size(); ++row)
    named[trace.rows[row].partition].rows.push_back(row);
  std::vector<Partition> partitions;
  for (auto& [name, partition] : named) {
    partition.name = name;
    if (partition.groups.empty()) {
      partition.derived = true;
      partition.groups.push_back(derive_nodes(cluster.groups.front(), name, trace.rows, partition.rows));
    }
    partitions.push_back(std::move(partition));
  }
  return partitions;
}

Replay run(const std::vector<TraceRow>& rows, const std::vector<Partition>& partitions,
           const RunOptions& options, const std::function<void(std::size_t)>& ended) {
  std::vector<std::size_t> order(partitions.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, std::greater(), [&](std::size_t i) { return partitions[i].rows.size(); });
  std::vector<Replay> parts(partitions.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i; (i = next++) < order.size();)
      parts[order[i]] = run_partition(partitions[order[i]], rows, options, ended);
  };
  {
    std::vector<std::jthread> threads;
    const std::size_t count =
        std::min<std::size_t>(std::max(1U, std::thread::hardware_concurrency()), order.size());
    for (std::size_t i = 0; i < count; ++i) threads.emplace_back(work);
  }
  return merged(std::move(parts), partitions, rows.size());
}

}  // namespace podium::cli
