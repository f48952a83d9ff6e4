// The jobs of a study: what the store knows of each that its table and its warnings are made of.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/model/spec.h"
#include "coordinator/store/reader.h"
#include "coordinator/tracking/scaling.h"

namespace podium {

struct StudyMember {
  JobView job;
  ScalingRun run;
  nlohmann::json parameters;  // what `sweep` gave it, by path; a swept seed is none
  std::optional<std::int64_t> seed;
  bool artificial = false;    // it ran on devices that were made up
  bool told_target = true;    // what its target names, if there is one
  double device_seconds = 0;  // that its attempts held
  std::int64_t steps = 0;     // that it was trained
  std::optional<TrialView> trial = {};
  std::optional<MetricSummary> judged = {};  // of a trial, the metric that its sweep decides by
};

struct StudyWarning {
  std::string code;
  JobId job;
  std::string sentence;
};

// The step from which the job was trained: that of its first attempt that came so far as to tell one.
std::int64_t first_step_of(const std::vector<AttemptView>& attempts);

// That are trained on in the steps after `first`, up to `last`.
double samples_between(const TrainingSpec& training, std::int64_t first, std::int64_t last);

// `spec`: the experiment's, as it was written; `sweep`: of trials that are judged.
std::vector<StudyMember> read_members(Reader& reader, const ExperimentView& experiment,
                                      const nlohmann::json& spec, const std::optional<SweepView>& sweep,
                                      Time now);

// What must be known before the figures of these jobs are believed.
std::vector<StudyWarning> warnings_of(const std::vector<StudyMember>& members,
                                      const std::optional<SweepView>& sweep,
                                      const std::vector<SharedNode>& shared);

}  // namespace podium
