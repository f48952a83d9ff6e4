// The number of jobs on disk, by state: read once, then updated by what is committed, so that this frequent
// question costs nothing. On the loop's thread.
#pragma once

#include <cstdint>
#include <map>

#include "coordinator/core/events/events.h"

namespace podium {

class JobCounts {
 public:
  explicit JobCounts(std::map<JobState, std::int64_t> on_disk) : counts_(std::move(on_disk)) {}

  void follow(const Events& committed) {
    for (const Event& event : committed) {
      if (std::holds_alternative<JobQueued>(event.body)) ++counts_[JobState::queued];
      const auto* changed = std::get_if<JobStateChanged>(&event.body);
      if (!changed) continue;
      --counts_[changed->from];
      ++counts_[changed->to];
    }
  }

  std::int64_t of(JobState state) const {
    const auto count = counts_.find(state);
    return count == counts_.end() ? 0 : count->second;
  }

 private:
  std::map<JobState, std::int64_t> counts_;
};

inline constexpr JobState kJobStates[] = {JobState::queued,    JobState::starting,  JobState::running,
                                          JobState::stopping,  JobState::succeeded, JobState::failed,
                                          JobState::cancelled, JobState::stopped};

}  // namespace podium
