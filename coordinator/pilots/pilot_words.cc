#include "coordinator/pilots/pilot_words.h"

#include <algorithm>

#include "common/base/units.h"
#include "coordinator/core/state/words.h"

namespace podium {
namespace {

std::string state_of_ask(const SlurmOptions& options, const SlurmJob& job) {
  const std::string name =
      "job " + std::to_string(job.id) + " of Slurm (partition " + options.partition + ")";
  if (!job.pending()) return name + " runs, and its agents are about to join";
  return name + " is pending: " + job.reason;
}

std::string sentence_for(const SlurmOptions& options, const PilotView& view, const PilotMemory& memory,
                         const NodeWish& wish, Time now) {
  const std::string nodes = count(wish.nodes, "node") + " of Slurm";
  if (!view.silent.empty()) return "waits for " + nodes + ", which does not answer: " + view.silent;
  for (const SlurmJob& job : view.jobs)
    if (job.job == wish.job && job.lives() && memory.awaited.contains(job.id))
      return "waits for " + nodes + ": " + state_of_ask(options, job);
  const auto pause = memory.pauses.find(wish.job);
  if (pause != memory.pauses.end())
    return "gets no " + nodes + ": " + pause->second.why + "; asked again " +
           (pause->second.until > now
                ? "in " + format_duration(std::chrono::ceil<std::chrono::seconds>(pause->second.until - now))
                : "now");
  return "waits for " + nodes + ": they are asked for once fewer than " + std::to_string(options.nodes) +
         " are in use (--slurm-nodes), or others come that hold it";
}

}  // namespace

std::optional<Blocker> why_no_nodes(const SlurmOptions& options, const PilotView& view,
                                    const PilotMemory& memory, JobId job, Time now) {
  Blocker blocker{.code = BlockerCode::allocation};
  if (view.stand.too_long.contains(job)) {
    blocker.sentence = "gets no nodes of Slurm: its walltime is longer than the " +
                       format_duration(longest_job(options)) +
                       " that a job may take there (--slurm-walltime); submit it with a shorter one";
    return blocker;
  }
  const auto wish = std::ranges::find(view.stand.wishes, job, &NodeWish::job);
  if (wish == view.stand.wishes.end()) return std::nullopt;
  blocker.needs = wish->nodes;
  blocker.sentence = sentence_for(options, view, memory, *wish, now);
  return blocker;
}

}  // namespace podium
