// <home>/cluster.json: the cluster whose jobs this home holds. The agent follows no other cluster's orders
// while one of them runs.
#pragma once

#include <filesystem>
#include <string>

#include "common/model/sync.h"

namespace podium {

struct FollowedCluster {
  ClusterName name;
  std::string folder = "jobs";  // of its jobs, in the shared folder

  bool operator==(const FollowedCluster&) const = default;
};

FollowedCluster read_cluster(const std::filesystem::path& home);  // of no name where there is no file yet
void write_cluster(const std::filesystem::path& home, const FollowedCluster& cluster);

// Moves the cluster's jobs in this home aside, because the jobs of another cluster have the same numbers.
void set_jobs_aside(const std::filesystem::path& home, const FollowedCluster& cluster);

}  // namespace podium
