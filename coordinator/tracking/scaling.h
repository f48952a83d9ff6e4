// How well a training scales over devices: from the figures of its runs to a table by size. Pure.
//
// Steady part of a run: the points of its rate after the first tenth of its steps, up to the last step that
// it reported. podium-worker's rates cover the time of steps alone, without evaluations and checkpoints. The
// points of all runs (seeds) of a size are taken together; T and S are medians over the runs. Runs that
// failed or were cancelled are left out; runs that have not ended count only at sizes where none has.
//
//   n               devices
//   r               samples a second: median over the steady part; of programs that tell tokens alone, tokens
//   per device      r / n
//   speed-up        r / r_b, with b the smallest size that has ended and told a rate
//   efficiency      (r / n) / (r_b / n_b)
//   T               time-to-train: first start to target, or to the end where there is no target
//   S               samples to the target, or to the end; steps taken again are not counted twice
//   stepping share  S / (r T): the fraction of T that S samples at the rate r take
//   model FLOP/s    r × FLOPs of a sample (common/model/flops.h);  MFU: that / (n × the device's peak)
//
// The identity of time-to-train efficiency, exact because the stepping share is what it is defined to be:
//
//   (n_b T_b) / (n T)  =  (r / n) / (r_b / n_b)  ×  S_b / S  ×  stepping share / stepping share_b
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/id.h"
#include "common/model/job.h"
#include "coordinator/tracking/series.h"

namespace podium {

struct ScalingRun {
  JobId job;
  JobState state = JobState::queued;
  int devices = 1;
  Series samples_rate, tokens_rate;  // a second
  std::optional<double> time_to_train_seconds;
  std::optional<double> samples_to_target;
  std::optional<double> held_seconds;  // by its attempts; what the next two are fractions of
  std::optional<double> evaluating_seconds, checkpointing_seconds;
  std::optional<double> flops_per_sample;
  std::optional<double> peak_flops;  // of one of its devices
};

struct SteadyRate {
  double median = 0;
  double low = 0, high = 0;  // a quarter of the points lies below, a quarter above
  int points = 0;

  bool operator==(const SteadyRate&) const = default;
};

// efficiency = throughput × samples × stepping
struct TimeEfficiency {
  double efficiency = 0;
  double throughput = 0;
  double samples = 0;
  double stepping = 0;
};

struct ScalingRow {
  int devices = 1;
  std::vector<JobId> jobs;  // whose figures these are
  bool so_far = false;      // none of them has ended
  int reached = 0;          // of them have a time-to-train
  std::optional<SteadyRate> samples, tokens;
  std::optional<double> per_device, speed_up, efficiency;
  std::optional<double> model_flops, mfu;
  std::optional<double> time_to_train_seconds, samples_to_target;
  std::optional<double> stepping_share, evaluation_share, checkpoint_share;
  std::optional<TimeEfficiency> time_efficiency;
};

struct ScalingTable {
  std::optional<int> base;       // devices of the row that the others are compared with
  std::vector<ScalingRow> rows;  // by devices
};

ScalingTable scaling_table(const std::vector<ScalingRun>& runs);

// "64 devices: 91 % of linear from 8, 4h12m to train": for the largest size that has ended; otherwise a
// sentence about what is missing.
std::string scaling_sentence(const ScalingTable& table);

// The rate over the steady parts of the runs; nothing where these have no finite point.
std::optional<SteadyRate> steady_rate(const std::vector<Series>& runs);

// The `q`-quantile of the values, interpolated linearly. Needs at least one value.
double quantile(std::vector<double> values, double q);

}  // namespace podium
