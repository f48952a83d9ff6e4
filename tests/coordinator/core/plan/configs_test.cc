// Every job under configs/ finds its place on a simulated cluster of the machines that the specs name.
#include <map>

#include "common/base/file.h"
#include "common/spec/load.h"
#include "coordinator/core/events/commands.h"
#include "tests/common/spec/files.h"
#include "tests/coordinator/core/cluster_fixture.h"
#include "tests/paths.h"

namespace podium {
namespace {

class Configs : public ClusterTest, public testing::WithParamInterface<std::filesystem::path> {};

TEST_P(Configs, ArePlacedAsTheirSpecsSay) {
  const auto loaded = load_experiment(read_file(GetParam()), GetParam().filename().string());
  ASSERT_TRUE(loaded.ok()) << describe(loaded.errors());
  for (const JobSpec& spec : loaded->jobs) {
    state_ = {};
    turn(CoordinatorUp{});
    for (int i = 0; i < 64; ++i) join(node_with("dgx1-" + std::to_string(i), 8, "gpu"));
    join(node_with("dgx2", 16, "gpu"));
    for (int i = 0; i < 2; ++i) join(node_with("cpu-" + std::to_string(i), 4));
    JobRequest request = job_request(spec);
    request.init.reset();  // the job before it in its list
    const JobId id = submit(request);
    EXPECT_EQ(state_of(id), JobState::starting) << request.name << ": " << reason(id);
    ASSERT_TRUE(job(id).attempt);
    const Allocation& allocation = job(id).attempt->allocation;
    EXPECT_EQ(allocation.devices(), request.devices);
    std::map<NodeId, int> of_node;
    for (const Placement& rank : allocation.ranks) of_node[rank.node] += rank.devices();
    for (const auto& [node, devices] : of_node)
      EXPECT_TRUE(request.per_node == 0 || devices == request.per_node);
  }
}

TEST(JobRequestOfSpec, OfAServiceSaysWhichAndHowManyReplicasItHas) {
  const auto loaded = load_experiment(
      "{version: 1, name: answers, task: serve, model: {init: {job: 7}}, resources: {devices: 1, kind: cpu}, "
      "replicas: {min: 2, max: 4, queue: 50ms}}",
      "t.yaml");
  ASSERT_TRUE(loaded.ok()) << describe(loaded.errors());
  const JobRequest request = job_request(loaded->jobs.front());
  EXPECT_EQ(request.replica, (Replica{"answers", 2, 4, std::chrono::milliseconds(50)}));
  EXPECT_EQ(request.init, JobId{7});
  EXPECT_FALSE(request.saves);
  EXPECT_FALSE(request.command);
  EXPECT_EQ(job_request(JobSpec{}).replica, std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(All, Configs, testing::ValuesIn(test::yaml_files("configs")),
                         [](const auto& instance) {
                           std::string name = instance.param.stem().string();
                           std::ranges::replace_if(
                               name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; },
                               '_');
                           return name;
                         });

}  // namespace
}  // namespace podium
