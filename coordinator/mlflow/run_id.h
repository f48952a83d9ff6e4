// MLflow's run ids: 32 lower-case hex digits, 16 of the cluster's identity and 16 of the job's number. Every
// job has one without a table, and one of another cluster is known as such.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/base/id.h"

namespace podium::mlflow {

// `cluster`: ClusterName::id, which begins with 16 lower-case hex digits.
std::string run_id_of(JobId job, std::string_view cluster);

// Nothing where `run_id` is no run id, or one of another cluster.
std::optional<JobId> job_of(std::string_view run_id, std::string_view cluster);

}  // namespace podium::mlflow
