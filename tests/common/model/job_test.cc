#include "common/model/job.h"

#include <gtest/gtest.h>

#include <set>

namespace podium {
namespace {

constexpr JobState kAll[] = {JobState::queued,    JobState::starting, JobState::running,   JobState::stopping,
                             JobState::succeeded, JobState::failed,   JobState::cancelled, JobState::stopped};

TEST(JobState, AJobThatEndedIsOnlyEverQueuedAgainAndOneThatSucceededNever) {
  for (const JobState from : {JobState::succeeded, JobState::failed, JobState::cancelled, JobState::stopped})
    for (const JobState to : kAll)
      EXPECT_EQ(may_follow(from, to), to == JobState::queued && from != JobState::succeeded)
          << to_string(from) << " to " << to_string(to);
}

TEST(JobState, EveryStateLeadsToAnEndAndIsReachable) {
  std::set<JobState> reached{JobState::queued};
  for (std::size_t pass = 0; pass < std::size(kAll); ++pass)
    for (const JobState from : std::set(reached))
      for (const JobState to : kAll)
        if (may_follow(from, to)) reached.insert(to);
  EXPECT_EQ(reached.size(), std::size(kAll));
  for (const JobState from : kAll) {
    bool goes_on = false;  // otherwise than by an operator's requeue
    for (const JobState to : kAll)
      goes_on |= may_follow(from, to) && !(is_terminal(from) && to == JobState::queued);
    EXPECT_NE(goes_on, is_terminal(from)) << to_string(from);
  }
}

TEST(JobState, NamesAreReadBack) {
  for (const JobState state : kAll) EXPECT_EQ(job_state_from(to_string(state)), state);
  EXPECT_THROW(job_state_from("Running"), std::invalid_argument);
}

}  // namespace
}  // namespace podium
