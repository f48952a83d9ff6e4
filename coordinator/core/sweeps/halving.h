// Which trials of a sweep train on: asynchronous successive halving, after L. Li, K. Jamieson, A.
// Rostamizadeh, E. Gonina, J. Ben-tzur, M. Hardt, B. Recht, A. Talwalkar, "A System for Massively Parallel
// Hyperparameter Tuning" (ASHA), MLSys 2020, algorithm 2. A trial reports its metric at each rung. It goes on
// to the next rung while it is among the best ⌊n / reduction⌋ of the n trials that have reported at the rung
// so far; otherwise it pauses until more have. The paper draws trials without end, but a spec has a fixed
// number, so too few may reach the upper rungs for the rule to promote one. Therefore, when no trial can
// report any more and none has trained to its end, the best that is paused at the highest rung goes on (the
// last call). Pure; only events write it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/id.h"
#include "common/model/asha.h"

namespace podium {

struct RungReport {
  std::int64_t step = 0;        // of the report: the rung's, or the first after it
  std::optional<double> value;  // none: not a number
  bool operator==(const RungReport&) const = default;
};

struct Trial {
  int rung = 1;                       // that it trains to; the number of rungs + 1: to its end
  std::map<int, RungReport> reports;  // the first of each rung; reports above `rung` count once it gets there
  bool paused = false;                // at `rung`
  bool over = false;
  bool succeeded = false;
  bool operator==(const Trial&) const = default;
};

// Only the functions below change trials; they also update what is derived from them, so that a decision
// visits each trial once and sorts nothing.
struct Halving {
  Asha rule;
  std::map<JobId, Trial> trials;

  std::map<int, std::vector<JobId>> told;  // by rung, ranked; see ranking()
  std::map<int, std::size_t> training;     // by rung, the trials that are neither paused nor over
  std::size_t over = 0, succeeded = 0;     // trials
  bool operator==(const Halving&) const = default;
};

void add_trial(Halving& halving, JobId job, Trial trial);
// Only the first report at a rung counts.
void tell(Halving& halving, JobId job, int rung, const RungReport& report);
void pause(Halving& halving, JobId job);
void promote(Halving& halving, JobId job);
void change_state(Halving& halving, JobId job, bool over, bool succeeded);
// An operator continues a trial that had ended: it is no longer paused.
void recall(Halving& halving, JobId job);

// The trials that have reported at the rung, the best first: by the metric, then by their number. Not a
// number is the worst value.
const std::vector<JobId>& ranking(const Halving& halving, int rung);

// How many of these go on.
std::size_t places(const Halving& halving, int rung);

struct Decision {
  JobId job;
  int rung = 1;
  bool promotes = true;  // false: it pauses there
  bool operator==(const Decision&) const = default;
};

// The first decision that the rule demands, if any: apply it and ask again. Upper rungs go before lower ones,
// as in the paper's get_job.
std::optional<Decision> next_decision(const Halving& halving);

// For a halving all of whose trials are over or paused: the trial that goes on nevertheless. None where the
// sweep has its winner, or no trial that could be one.
std::optional<Decision> last_call(const Halving& halving);

// A value as it is written in sentences.
std::string metric_text(double value);

// How many trials may still report at a rung.
std::size_t yet_to_tell(const Halving& halving, int rung);

// "7th of 9 at rung 2 (step 400) with eval/loss 3.21, of which the best 2 go on", for a trial that has
// reported there.
std::string standing(const Halving& halving, JobId job, int rung);

}  // namespace podium
