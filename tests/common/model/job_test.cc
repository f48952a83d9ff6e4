#include "common/model/job.h"

#include <gtest/gtest.h>

#include <set>

namespace podium {
namespace {

constexpr JobState kAll[] = {JobState::queued,    JobState::starting, JobState::running,  JobState::stopping,
                             JobState::succeeded, JobState::failed,   JobState::cancelled};

TEST(JobState, TerminalStatesNeverMove) {
  for (const JobState from : {JobState::succeeded, JobState::failed, JobState::cancelled})
    for (const JobState to : kAll)
      EXPECT_FALSE(may_follow(from, to)) << to_string(from) << " to " << to_string(to);
}

TEST(JobState, EveryStateLeadsToAnEndAndIsReachable) {
  std::set<JobState> reached{JobState::queued};
  for (std::size_t pass = 0; pass < std::size(kAll); ++pass)
    for (const JobState from : std::set(reached))
      for (const JobState to : kAll)
        if (may_follow(from, to)) reached.insert(to);
  EXPECT_EQ(reached.size(), std::size(kAll));
  for (const JobState from : kAll) {
    bool moves = false;
    for (const JobState to : kAll) moves |= may_follow(from, to);
    EXPECT_NE(moves, is_terminal(from)) << to_string(from);
  }
}

TEST(JobState, NamesAreReadBack) {
  for (const JobState state : kAll) EXPECT_EQ(job_state_from(to_string(state)), state);
  EXPECT_THROW(job_state_from("Running"), std::invalid_argument);
}

}  // namespace
}  // namespace podium
