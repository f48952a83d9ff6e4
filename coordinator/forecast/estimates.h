// How long jobs still run: by their steps where those are known, else by what jobs usually take of the
// walltime they asked for. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "coordinator/core/state/state.h"

namespace podium {

// Which future: every job takes all of its walltime; what is to be expected; every job is as quick as the
// quickest tenth.
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

// Of those that ran to their end, or for all of their walltime: what failed or was cancelled before says
// nothing of how long a training takes. The defaults where they are fewer than kEnoughJobs.
inline constexpr std::size_t kEnoughJobs = 10;
WalltimeFractions learn_fractions(const std::vector<EndedRun>& runs);

struct StepsDone {
  std::int64_t step = 0;
  std::int64_t steps = 0;  // in all
  Time at;                 // when it was at `step`
};

// What is left at the pace of its attempt so far, less than nothing where it is overdue; nothing where it has
// no pace yet.
std::optional<Duration> left_at_pace(const Job& job, const StepsDone& done, Time now);

struct Estimates {
  WalltimeFractions fractions;
  std::map<JobId, Duration> by_pace;  // left_at_pace of running jobs

  // How long a job would run from now on. One that is overdue by its pace is expected to be so for as long
  // again; one that has outlived what is usual, too, or to take that part of the walltime that is left which
  // jobs usually take of the whole.
  Duration left(const Job& job, Outlook outlook, Time now) const;
};

}  // namespace podium
