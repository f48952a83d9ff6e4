// The jobs of a study, with the data for its table and its warnings.
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
  nlohmann::json parameters;  // values of `sweep`, by path, without a swept seed
  std::optional<std::int64_t> seed;
  bool artificial = false;    // it ran on devices that were made up
  bool told_target = true;    // whether it reported the metric of its target, if it has one
  double device_seconds = 0;  // that its attempts held
  std::int64_t steps = 0;     // that it was trained
  std::optional<TrialView> trial = {};
  std::optional<MetricSummary> judged = {};  // of a trial: the metric by which its sweep decides
};

struct StudyWarning {
  std::string code;
  JobId job;
  std::string sentence;
};

// The step from which the job was trained: that of its first attempt that reported one.
std::int64_t first_step_of(const std::vector<AttemptView>& attempts);

// The samples of the steps after `first`, up to `last`.
double samples_between(const TrainingSpec& training, std::int64_t first, std::int64_t last);

// `spec`: the experiment's, as it was written; `sweep`: of trials that are judged.
std::vector<StudyMember> read_members(Reader& reader, const ExperimentView& experiment,
                                      const nlohmann::json& spec, const std::optional<SweepView>& sweep,
                                      Time now);

// What readers must know before they trust the figures of these jobs.
std::vector<StudyWarning> warnings_of(const std::vector<StudyMember>& members,
                                      const std::optional<SweepView>& sweep,
                                      const std::vector<SharedNode>& shared);

}  // namespace podium
