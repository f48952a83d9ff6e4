#include "agent/process/cluster_file.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "common/base/file.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

fs::path cluster_path(const fs::path& home) { return home / "cluster.json"; }

}  // namespace

FollowedCluster read_cluster(const fs::path& home) {
  if (!fs::exists(cluster_path(home))) return {};
  try {
    const nlohmann::json in = nlohmann::json::parse(read_file(cluster_path(home)));
    return {{in.at("id"), in.at("generation")}, in.at("folder")};
  } catch (const nlohmann::json::exception& error) {
    throw std::runtime_error(
        cluster_path(home).string() + " is damaged, and tells whose tasks this node runs: " +
        "bring it back, or move it away once no task of this node runs (" + error.what() + ")");
  }
}

void write_cluster(const fs::path& home, const FollowedCluster& cluster) {
  const nlohmann::json out{{"version", 1},
                           {"id", cluster.name.id},
                           {"generation", cluster.name.generation},
                           {"folder", cluster.folder}};
  write_file_atomic(cluster_path(home), out.dump() + "\n", 0600);
}

void set_jobs_aside(const fs::path& home, const FollowedCluster& cluster) {
  const fs::path aside = home / ("cluster-" + cluster.name.id);
  fs::create_directories(aside);
  for (const char* name : {"jobs", "fences.json"}) {
    if (!fs::exists(home / name)) continue;
    fs::remove_all(aside / name);  // of an earlier time with that cluster
    fs::rename(home / name, aside / name);
  }
  sync_folder(home);
}

}  // namespace podium
