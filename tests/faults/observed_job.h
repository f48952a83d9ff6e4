// What a test sees of a training job: its workers while it runs, its curves and weights afterwards.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>

#include "tests/cluster.h"

namespace podium {

// Waits until the coordinator has heard of this step.
nlohmann::json wait_for_step(const Cluster& cluster, JobId job, int step);

// pid of each rank in the newest attempt.
std::map<int, pid_t> workers(const nlohmann::json& job);

// Of the checkpoint of one step: its manifest, and every file of tensors by name.
nlohmann::json checkpoint_manifest(const Cluster& cluster, JobId job, int step);
std::map<std::string, std::string> checkpoint_tensors(const Cluster& cluster, JobId job, int step);

// step -> value of one metric, as the coordinator keeps it. Fails the test where a step has two.
std::map<int, double> recorded(const Cluster& cluster, JobId job, const std::string& key);

}  // namespace podium
