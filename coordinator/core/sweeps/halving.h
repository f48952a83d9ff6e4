// Which trials of a sweep train on: asynchronous successive halving, after L. Li, K. Jamieson, A.
// Rostamizadeh, E. Gonina, J. Ben-tzur, M. Hardt, B. Recht, A. Talwalkar, "A System for Massively Parallel
// Hyperparameter Tuning" (ASHA), MLSys 2020, algorithm 2. A trial tells its metric at each rung it trains to
// and goes on to the next where it is among the best ⌊n / reduction⌋ of the n that have told there so far;
// else it pauses, until more have told. Of the trials of a spec, whose number the paper does not bound, too
// few may reach the upper rungs for the rule to let one pass: where nothing is left that could tell more and
// no trial has been trained to its end, the best that is paused at the highest rung goes on (the last call).
// Pure; written by events alone.
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
  std::int64_t step = 0;        // at which it was told: the rung's, or the first after it
  std::optional<double> value;  // none: not a number
  bool operator==(const RungReport&) const = default;
};

struct Trial {
  int rung = 1;                       // that it trains to; one more than there are: to its end
  std::map<int, RungReport> reports;  // the first of each rung; those above `rung` count once it is there
  bool paused = false;                // at `rung`
  bool over = false;
  bool succeeded = false;
  bool operator==(const Trial&) const = default;
};

// Trials change by the functions below alone, which keep what is derived from them in step: a decision costs
// a look at each trial and sorts none.
struct Halving {
  Asha rule;
  std::map<JobId, Trial> trials;

  std::map<int, std::vector<JobId>> told;  // by rung, ranked; see ranking()
  std::map<int, std::size_t> training;     // by rung, the trials that are neither paused nor over
  std::size_t over = 0, succeeded = 0;     // trials
  bool operator==(const Halving&) const = default;
};

void add_trial(Halving& halving, JobId job, Trial trial);
// The first word of each rung counts.
void tell(Halving& halving, JobId job, int rung, const RungReport& report);
void pause(Halving& halving, JobId job);
void promote(Halving& halving, JobId job);
void change_state(Halving& halving, JobId job, bool over, bool succeeded);
// It had ended and goes on by an operator's wish: nobody has paused it.
void recall(Halving& halving, JobId job);

// The trials that have told at the rung, the best first: by the metric, then by their number. A value that is
// no number is the worst.
const std::vector<JobId>& ranking(const Halving& halving, int rung);

// How many of these go on.
std::size_t places(const Halving& halving, int rung);

struct Decision {
  JobId job;
  int rung = 1;
  bool promotes = true;  // false: it pauses there
  bool operator==(const Decision&) const = default;
};

// What the rule demands first, if anything: decide, follow, and ask again. Upper rungs go before lower ones,
// as in the paper's get_job.
std::optional<Decision> next_decision(const Halving& halving);

// Of a halving all of whose trials are over or paused: who goes on nevertheless. None: the sweep has its
// winner, or no trial that could be one.
std::optional<Decision> last_call(const Halving& halving);

// A value as sentences have it.
std::string metric_text(double value);

// How many trials have yet to tell at a rung, of those that may.
std::size_t yet_to_tell(const Halving& halving, int rung);

// "7th of 9 at rung 2 (step 400) with eval/loss 3.21, of which the best 2 go on", of one that has told there.
std::string standing(const Halving& halving, JobId job, int rung);

}  // namespace podium
