#include "coordinator/pilots/pilot_plan.h"

#include <algorithm>
#include <chrono>

#include "common/base/units.h"

namespace podium {
namespace {

using namespace std::chrono_literals;

constexpr Duration kFirstPause = 30s;
constexpr Duration kLongestPause = 10min;
constexpr const char* kGivenBack = "it is given back to Slurm";

std::string name_of_allocation(const SlurmJob& job) { return "job " + std::to_string(job.id) + " of Slurm"; }

class PilotPlanner {
 public:
  PilotPlanner(const SlurmOptions& options, const PilotStand& stand, const std::vector<SlurmJob>& jobs,
               PilotMemory& memory, Time now)
      : options_(options), stand_(stand), jobs_(jobs), memory_(memory), now_(now) {}

  PilotSteps plan() {
    forget_what_is_gone();
    for (const SlurmJob& job : jobs_) {
      if (job.lives())
        judge(job);
      else
        bury(job);
    }
    remove_strangers();
    give_back_doubles();
    ask();
    return std::move(steps_);
  }

 private:
  const std::vector<LentNode>& nodes_of(const SlurmJob& job) const {
    static const std::vector<LentNode> none;
    const auto found = stand_.lent.find(job.id);
    return found == stand_.lent.end() ? none : found->second;
  }

  void forget_what_is_gone() {
    std::set<std::int64_t> known;
    for (const SlurmJob& job : jobs_) known.insert(job.id);
    const auto gone = [&](const auto& entry) {
      if constexpr (requires { entry.first; })
        return !known.contains(entry.first);
      else
        return !known.contains(entry);
    };
    std::erase_if(memory_.idle_since, gone);
    std::erase_if(memory_.coming_since, gone);
    std::erase_if(memory_.awaited, gone);
    std::erase_if(memory_.given_back, gone);
    std::erase_if(memory_.pauses, [&](const auto& entry) { return !stand_.waiting.contains(entry.first); });
  }

  // Its nodes leave: at once where Slurm has seen everything on them end, else when they are lost. Of a
  // machine that nobody hears Slurm says that all has ended there when it gives up on it.
  void bury(const SlurmJob& job) {
    for (const LentNode& node : nodes_of(job))
      if ((job.over() && !node.silent) || node.lost)
        steps_.commands.push_back(
            RemoveNode{node.id, name_of_allocation(job) + " has ended (" + job.state + ")"});
    memory_.idle_since.erase(job.id);
    memory_.coming_since.erase(job.id);
    const bool awaited = memory_.awaited.erase(job.id) > 0;
    if (!awaited || memory_.given_back.contains(job.id) || !nodes_of(job).empty()) return;
    pause_asking(memory_, job.job,
                 name_of_allocation(job) + " ended as " + job.state + " before its agents had joined; see " +
                     log_of(job),
                 now_);
  }

  std::string log_of(const SlurmJob& job) const {
    return (options_.shared / ("podium-slurm-" + std::to_string(job.id) + ".log")).string();
  }

  // Slurm knows nothing of their allocation any more: it may have lost its records, and they go on.
  void remove_strangers() {
    for (const auto& [allocation, nodes] : stand_.lent) {
      if (std::ranges::find(jobs_, allocation, &SlurmJob::id) != jobs_.end()) continue;
      for (const LentNode& node : nodes)
        if (node.lost)
          steps_.commands.push_back(
              RemoveNode{node.id, "Slurm does not know its job " + std::to_string(allocation) + " any more"});
    }
  }

  void judge(const SlurmJob& job) {
    if (job.state == "COMPLETING") return;
    nodes_in_use_ += job.nodes;
    const auto& nodes = nodes_of(job);
    if (std::ssize(nodes) < job.nodes)
      await(job);
    else
      keep(job, nodes);
  }

  // Pending, or its agents are about to join.
  void await(const SlurmJob& job) {
    memory_.awaited.insert(job.id);
    if (job.pending()) {
      if (stand_.waiting.contains(job.job))
        coming_[job.job].push_back(&job);
      else
        give_back(job, "job " + to_string(job.job) + " no longer waits for it");
      return;
    }
    const Time since = memory_.coming_since.try_emplace(job.id, now_).first->second;
    if (now_ - since < kJoinWithin) {
      coming_[job.job].push_back(&job);
      return;
    }
    const std::string why = "the agents of " + name_of_allocation(job) + " did not join within " +
                            format_duration(kJoinWithin) + "; see " + log_of(job);
    pause_asking(memory_, job.job, why, now_);
    give_back(job, why);
  }

  void keep(const SlurmJob& job, const std::vector<LentNode>& nodes) {
    memory_.coming_since.erase(job.id);
    if (memory_.awaited.erase(job.id) > 0) memory_.pauses.erase(job.job);
    if (std::ranges::any_of(nodes, &LentNode::busy)) {
      memory_.idle_since.erase(job.id);
      return;
    }
    const Time since = memory_.idle_since.try_emplace(job.id, now_).first->second;
    if (now_ - since < options_.idle) return;
    for (const LentNode& node : nodes)
      if (!node.closed) steps_.commands.push_back(DrainNode{node.id, kGivenBack, {}, {}});
    give_back(job, "nothing has run there for " + format_duration(options_.idle));
  }

  void give_back(const SlurmJob& job, std::string why) {
    nodes_in_use_ -= job.nodes;
    memory_.given_back.insert(job.id);
    steps_.give_back.push_back({job.id, std::move(why)});
  }

  // Two were asked for one job: the answer to the first was lost.
  void give_back_doubles() {
    for (auto& [job, coming] : coming_) {
      std::ranges::sort(coming, {}, [](const SlurmJob* one) { return std::pair(one->pending(), one->id); });
      for (std::size_t i = 1; i < coming.size(); ++i)
        give_back(*coming[i], "it was asked twice for job " + to_string(job));
      coming.resize(1);
    }
  }

  int devices_of(int nodes) const { return nodes * (options_.gpus > 0 ? options_.gpus : options_.cpu_slots); }

  // What is coming for one job may hold those after it, too.
  void ask() {
    int spare = 0;
    for (const auto& [job, coming] : coming_) spare += devices_of(coming.front()->nodes);
    for (const NodeWish& wish : stand_.wishes) {
      const bool own = coming_.contains(wish.job);
      if (own || wish.devices <= spare) {
        spare -= wish.devices;
        continue;
      }
      const auto pause = memory_.pauses.find(wish.job);
      if (pause != memory_.pauses.end() && now_ < pause->second.until) continue;
      if (nodes_in_use_ + wish.nodes > options_.nodes) continue;
      nodes_in_use_ += wish.nodes;
      spare += devices_of(wish.nodes) - wish.devices;
      steps_.ask.push_back({wish.job, wish.attempt, wish.nodes, walltime_for(options_, wish.walltime)});
    }
  }

  const SlurmOptions& options_;
  const PilotStand& stand_;
  const std::vector<SlurmJob>& jobs_;
  PilotMemory& memory_;
  const Time now_;
  PilotSteps steps_;
  std::map<JobId, std::vector<const SlurmJob*>> coming_;
  int nodes_in_use_ = 0;
};

}  // namespace

PilotSteps plan_pilots(const SlurmOptions& options, const PilotStand& stand,
                       const std::vector<SlurmJob>& jobs, PilotMemory& memory, Time now) {
  return PilotPlanner(options, stand, jobs, memory, now).plan();
}

void pause_asking(PilotMemory& memory, JobId job, std::string why, Time now) {
  AskingPause& pause = memory.pauses[job];
  const Duration length = std::min<Duration>(kLongestPause, kFirstPause * (1 << std::min(pause.times, 10)));
  ++pause.times;
  pause.why = std::move(why);
  pause.until = now + length;
}

}  // namespace podium
