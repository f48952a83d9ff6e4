// The words that MLflow's protocol has for what a job is. Answers tell them and searches compare them, here
// in C++ and there in SQL, both from these tables.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/model/job.h"
#include "coordinator/store/run_change.h"

namespace podium {

std::string_view run_status(JobState state);  // "RUNNING"
std::optional<JobState> state_of_run(std::string_view status);
// Of a column that has a JobState.
std::string run_status_sql(const std::string& column);

inline constexpr const char* kArtifactScheme = "mlflow-artifacts:/";
// Where a group's artifacts lie. `given`: as the group has it.
std::string artifact_location(RunGroupId group, const std::string& given);
std::string artifact_uri(RunGroupId group, const std::string& given, const std::string& run_id);
// Of columns and an expression in their place.
std::string artifact_uri_sql(const std::string& group, const std::string& given, const std::string& run_id);

}  // namespace podium
