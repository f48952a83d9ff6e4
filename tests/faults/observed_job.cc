#include "tests/faults/observed_job.h"

#include <gtest/gtest.h>

#include "common/base/file.h"

namespace podium {
namespace {

using nlohmann::json;

std::filesystem::path checkpoint(const Cluster& cluster, JobId job, int step) {
  const std::string digits = std::to_string(step);
  return cluster.checkpoints(job) / ("step-" + std::string(8 - digits.size(), '0') + digits);
}

}  // namespace

json wait_for_step(const Cluster& cluster, JobId job, int step) {
  return cluster.wait_for(job, [&](const json& seen) {
    return seen.at("progress").is_object() && seen.at("progress").at("step").get<int>() >= step;
  });
}

std::map<int, pid_t> workers(const json& job) {
  std::map<int, pid_t> pids;
  for (const json& task : job.at("attempts").back().at("tasks"))
    pids[task.at("rank").get<int>()] = task.at("pid").get<pid_t>();
  return pids;
}

json checkpoint_manifest(const Cluster& cluster, JobId job, int step) {
  return json::parse(read_file(checkpoint(cluster, job, step) / "manifest.json"));
}

std::map<std::string, std::string> checkpoint_tensors(const Cluster& cluster, JobId job, int step) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(checkpoint(cluster, job, step)))
    if (entry.path().extension() == ".safetensors") files[entry.path().filename()] = read_file(entry.path());
  return files;
}

std::map<int, double> recorded(const Cluster& cluster, JobId job, const std::string& key) {
  const json reply = cluster.get("/jobs/" + to_string(job) + "/series?points=20000&key=" + key);
  std::map<int, double> values;
  for (const json& point : reply.at("series").at(0).at("points")) {
    const bool first = values.emplace(point.at(0).get<int>(), point.at(2).get<double>()).second;
    EXPECT_TRUE(first) << "step " << point.at(0) << " is recorded twice";
  }
  return values;
}

}  // namespace podium
