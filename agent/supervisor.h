// Makes the node's tasks follow the orders: runs `reconcile` whenever something changes, carries out its
// actions and watches the processes. Everything runs on one executor, without locks; the only blocking calls
// are on small local files.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/code_cache.h"
#include "agent/console_watch.h"
#include "agent/core/command.h"
#include "agent/core/reconcile.h"
#include "agent/lasting_troubles.h"
#include "agent/node_devices.h"
#include "agent/outputs/output_collector.h"
#include "agent/process/cgroup.h"
#include "agent/process/cluster_file.h"
#include "agent/process/fence_watch.h"
#include "agent/process/home_room.h"
#include "agent/process/lease_file.h"
#include "agent/process/spawn.h"
#include "agent/process/task_folder.h"
#include "agent/staging/input_stager.h"
#include "agent/start_health.h"

namespace podium {

struct SupervisorConfig {
  std::filesystem::path home;            // state of this agent
  std::filesystem::path shared;          // the same folder on every node
  std::string shared_id;                 // its identity: process/shared_fence.h
  std::filesystem::path data;            // where a spec's relative data paths begin
  std::string address;                   // of this node, as the others reach it
  std::filesystem::path worker;          // podium-worker
  std::filesystem::path shim;            // podium-shim
  std::vector<std::string> environment;  // the agent's own; tasks get the variables that is_kept names
  TrackingServer tracking;               // that commands log to
  std::int64_t kept_bytes = 0;           // most bytes of the folders of forgotten tasks
  CodeCache::Fetch fetch_code;
  StagingConfig staging;
  OutputLimits output_limits;
};

// What the agent keeps of a task besides its entry in the process table.
struct SupervisedTask {
  TaskRecord record;
  TaskRecord saved;                  // what task.json holds
  std::optional<TaskFolder> folder;  // none: refused or failed before anything was on disk
  std::optional<TaskLease> lease;    // none: an older shim started it, or no shim
  std::optional<boost::asio::posix::stream_descriptor> pidfd;  // of the shim, while it is watched
  pid_t shim = -1;                                             // when it is this agent's own child
  std::optional<TaskExit> failed_start;
  std::optional<ExitCause> asked;  // why this agent told it to leave, if it did
  Time tell_exit_at{};             // at the latest; earlier once its events are delivered
  bool exit_told = false;          // the reports say exited
  bool read = false;               // metrics are read from its output, and there may be more
  bool tracing = false;            // traces of NCCL's flight recorder are being kept
  bool settled = false;            // exited and delivered: its files are not read again

  bool is_collected() const { return !folder || (!tracing && (record.outputs.empty() || record.collected)); }
  bool is_delivered(std::size_t stream) const {
    return settled || !folder || record.delivered[stream] >= folder->stream_size(kStreams[stream]);
  }
  bool is_delivered(StreamKind stream) const { return is_delivered(stream_index(stream)); }
  // Nothing more will be told of what it did.
  bool events_delivered() const {
    return !read && is_delivered(StreamKind::events) && is_delivered(StreamKind::console);
  }
};

class Supervisor {
 public:
  // `on_change` is called when the reports have changed.
  Supervisor(boost::asio::any_io_executor executor, SupervisorConfig config, NodeDevices& devices,
             const Clock& clock, std::function<void()> on_change);

  // Adopts the tasks that an earlier agent left in this home. Call once, before anything else.
  void adopt();

  // Follows the coordinator's answer to the report that was sent at `sent`; the answer also renews the lease.
  // `orders` must have passed check_orders.
  void follow(NodeOrders orders, Time sent);
  Time now() const { return clock_.now(); }
  // Call when the coordinator falls silent or is back: with an older database it would assign numbers again
  // that it has not been told of.
  void touch_changed();

  std::set<int> gpus_in_use() const;   // by index; those of tasks whose processes live
  void devices_seen() { act_soon(); }  // call when occupied GPUs may have changed

  std::int64_t orders_seen() const { return orders_.version; }
  const ClusterName& cluster() const { return cluster_.name; }
  std::int64_t highest_job() const;                               // of the cluster's jobs known here
  std::vector<AttemptId> ended_attempts(bool interrupted) const;  // NodeReport::ended
  std::vector<TaskReport> reports() const;
  std::vector<TaskId> staging() const { return inputs_.staging(); }

  // For the shipper: what to deliver, and what has been delivered.
  const std::map<TaskId, SupervisedTask>& tasks() const { return tasks_; }
  void set_delivered(TaskId task, StreamKind stream, std::int64_t next);
  void give_up_delivery(TaskId task);  // drops the task's undelivered files
  void save_records();

  // Call every few seconds, for changes that cause no event: wakes shims that their programs have stopped,
  // collects shims that nothing watches, and checks whether the node can start tasks.
  void look_after();

  void leave();  // before an orderly end: saves everything and removes empty folders

  // Tells every task to leave and starts none from now on, for an agent that ends with its tasks. The
  // caller then waits until `running` is 0, and for a while until the coordinator has noted it and none is
  // `held`.
  void stop_all();
  std::size_t running() const;
  std::size_t held() const { return tasks_.size(); }

 private:
  void resume_lease();
  void write_leases();
  void watch_fences();
  std::filesystem::path jobs_folder() const { return config_.shared / cluster_.folder; }
  void take_news(const FenceNews& news);
  void join(const NodeOrders& orders);
  void look_at_clock(Time coordinators);
  template <class Needs, class Want, class Cache>
  void prepare(Cache& cache, std::map<TaskId, std::optional<TaskExit>>& ready, const Needs& needs,
               const Want& want);
  void prepare_starts();
  void prepared(std::map<TaskId, std::optional<TaskExit>>& ready, TaskId task,
                const std::optional<TaskExit>& failure);
  void act_soon();
  void act();
  void carry_out(const StartTask& start);
  void carry_out(const RefuseTask& refuse);
  void carry_out(const TerminateTask& terminate);
  void carry_out(const KillTask& kill);
  void carry_out(const DestroyTask& destroy);
  void carry_out(const ForgetTask& forget);

  SupervisedTask* advance(TaskId id, Stopping to, Time next_at);
  TaskPaths paths_of(const Launch& launch, const TaskFolder& folder) const;
  void launch(SupervisedTask& task, const StartTask& start);
  LaunchClock clock_of(const Launch& launch) const;
  int numa_of(const Launch& launch) const;
  std::map<int, std::string> gpu_uuids() const;
  void adopt_one(TaskId id);
  void try_to_adopt(TaskId id);
  void drop_unborn(TaskId id);
  boost::asio::awaitable<void> adopt_later(TaskId id);
  void watch(TaskId id, Fd pidfd, Fd ready);
  boost::asio::awaitable<void> watch_to_end(TaskId id,
                                            std::optional<boost::asio::posix::stream_descriptor> ready);
  void heard(TaskId id, const Ready& ready);
  void ended(TaskId id);
  void set_exit(TaskId id, TaskExit exit);
  void tell_exit(SupervisedTask& task);
  void plan_outputs(SupervisedTask& task, const Launch& launch, const std::string& working_folder);
  void collect_outputs_of(TaskId id);
  void outputs_told(TaskId id, const OutputsTold& told);
  void keep_traces_of(TaskId id);
  void traces_told(TaskId id, const OutputsTold& told);
  void start_failed(const std::string& why, Shortage shortage);
  void tell_health();
  void save(SupervisedTask& task);
  void check_delivered(TaskId id);
  void read_console(TaskId id, const Launch& launch);
  void console_read(TaskId id);
  void raise_fence_of(const SupervisedTask& task);
  void keep(SupervisedTask& task);
  void changed();

  boost::asio::any_io_executor executor_;
  const SupervisorConfig config_;
  NodeDevices& devices_;
  const Clock& clock_;
  const std::function<void()> on_change_;
  const std::optional<Cgroups> cgroups_;
  const LeaseFile lease_;
  StartHealth start_health_;
  std::optional<LeaseRecord> lease_written_;
  Time left_to_tasks_{};  // that have no lease of their own, by the agent before this one
  boost::asio::steady_timer wake_;

  FollowedCluster cluster_;
  // How far the coordinator's clock was ahead of this machine's boot clock when it sent its last answers,
  // less the time that each was on its way: the largest is nearest.
  std::deque<Duration> coordinator_ahead_;
  std::int64_t highest_job_ = 0;  // in the shared folder

  bool act_pending_ = false;
  NodeOrders orders_;
  ProcessTable table_;
  std::map<TaskId, SupervisedTask> tasks_;  // the same keys as table_.processes
  std::map<JobId, std::int32_t>
      newer_elsewhere_;  // of jobs that are ordered: the attempt for which an order was refused
  HomeRoom room_;
  LastingTroubles action_troubles_, save_troubles_;
  CodeCache code_;
  ConsoleWatch console_;
  InputStager inputs_;
  FenceWatch fences_;        // these two last: they end before
  OutputCollector outputs_;  // what they tell of
  OutputCollector traces_;   // likewise
};

}  // namespace podium
