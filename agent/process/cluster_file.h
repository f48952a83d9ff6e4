// <home>/cluster.json: whose jobs this home holds. The agent follows no other cluster's orders as long as one
// of them runs.
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

// What the home holds of the cluster's jobs goes where it is in nobody's way: another's have the same
// numbers.
void set_jobs_aside(const std::filesystem::path& home, const FollowedCluster& cluster);

}  // namespace podium
