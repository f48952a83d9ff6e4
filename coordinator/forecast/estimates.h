// Estimates how long jobs still run: from their steps where those are known, else from the fraction of the
// walltime that jobs usually take. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "coordinator/core/state/state.h"

namespace podium {

// latest: every job takes all of its walltime. expected: jobs take what they usually take. earliest: every
// job is as quick as the quickest tenth.
enum class Outlook { latest, expected, earliest };

// The fractions of their walltime that jobs take. The defaults are for a cluster without a history: users ask
// for about twice what they need (Mu'alem and Feitelson, IEEE TPDS 2001).
struct WalltimeFractions {
  double expected = 0.6;  // half of the jobs take less
  double earliest = 0.2;  // one in ten takes less
  int jobs = 0;           // that they were learnt from; 0: assumed
};

struct EndedRun {
  Duration ran{};
  Duration walltime{};
  bool succeeded = false;
};

// Uses runs that succeeded or took all of their walltime; runs that failed or were cancelled earlier do not
// show how long a training takes. Returns the defaults where there are fewer than kEnoughJobs.
inline constexpr std::size_t kEnoughJobs = 10;
WalltimeFractions learn_fractions(const std::vector<EndedRun>& runs);

struct StepsDone {
  std::int64_t step = 0;
  std::int64_t steps = 0;  // in all
  Time at;                 // when it was at `step`
};

// The time left at the pace of the attempt so far, negative where it is overdue; nothing where there is no
// pace yet.
std::optional<Duration> left_at_pace(const Job& job, const StepsDone& done, Time now);

struct Estimates {
  WalltimeFractions fractions;
  std::map<JobId, Duration> by_pace;  // left_at_pace of running jobs

  // How long a job would run from now on. A job that is overdue by its pace is expected to run for as long
  // again as it is overdue. So is a job that has outlived the usual fraction of its walltime, or else it
  // takes that fraction of the walltime that is left, whichever is longer.
  Duration left(const Job& job, Outlook outlook, Time now) const;
};

}  // namespace podium
