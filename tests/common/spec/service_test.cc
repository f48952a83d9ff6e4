// Specs of services: their jobs, defaults and launch form, and whose weights they may serve.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/model/shape_differences.h"
#include "common/model/spec_wire.h"
#include "common/spec/load.h"
#include "tests/common/spec/specs.h"

namespace podium {
namespace {

using namespace std::chrono_literals;
using test::load;
using ::testing::HasSubstr;

std::string service(const std::string& more = "", const std::string& init = "models/a") {
  return "version: 1\nname: answers\ntask: serve\nmodel: {init: " + init +
         "}\nresources: {devices: 1, kind: cpu}\n" + more;
}

TEST(ServiceSpec, IsAsManyEqualJobsAsItHasReplicasAtMost) {
  const LoadedExperiment loaded = load(service("replicas: {min: 2, max: 3, queue: 50ms}\n"));
  ASSERT_EQ(loaded.jobs.size(), 3u);
  EXPECT_FALSE(loaded.listed());
  EXPECT_FALSE(loaded.in_turn);
  for (const JobSpec& job : loaded.jobs) {
    EXPECT_EQ(to_json(job), to_json(loaded.jobs.front()));
    EXPECT_EQ(job.name, "answers");
    EXPECT_FALSE(job.trains());
    EXPECT_EQ(job.serve->replicas, (ReplicasSpec{2, 3, 50ms}));
  }
}

TEST(ServiceSpec, WhatIsNotWrittenIsAsOfTheProgram) {
  const JobSpec job = load(service()).jobs.at(0);
  EXPECT_EQ(*job.serve, ServeSpec{});
  EXPECT_EQ(job.model.init, "models/a");
  EXPECT_EQ(job.resources.walltime, kLongestWalltime);
  EXPECT_EQ(job.priority, 50);
}

TEST(ServiceSpec, ANumberOfReplicasIsBothLimits) {
  EXPECT_EQ(load(service("replicas: 2\n")).jobs.at(0).serve->replicas, (ReplicasSpec{2, 2, 20ms}));
  EXPECT_EQ(load(service("replicas: {min: 4}\n")).jobs.at(0).serve->replicas, (ReplicasSpec{4, 4, 20ms}));
  EXPECT_EQ(load(service("replicas: {max: 4}\n")).jobs.at(0).serve->replicas, (ReplicasSpec{1, 4, 20ms}));
  const auto overridden = load_experiment(service("replicas: 2\n"), "t.yaml", {{"replicas.max", "3"}});
  ASSERT_TRUE(overridden.ok()) << describe(overridden.errors());
  EXPECT_EQ(overridden->jobs.size(), 3u);
}

TEST(ServiceSpec, TravelsInALaunch) {
  for (const char* init : {"models/a", "{job: 12, checkpoint: best}", "{path: c, xxh3: 0123456789abcdef}"}) {
    const JobSpec job = load(service("serve: {precision: int8, max_wait: 0s}\n", init)).jobs.at(0);
    EXPECT_EQ(to_json(job_spec_from_json(to_wire_json(job))), to_json(job));
  }
}

TEST(ServiceSpec, ServesWhatATrainingWroteOfAnyShape) {
  JobSpec ours = load(service("", "{job: 12, checkpoint: best}")).jobs.at(0);
  JobSpec training;
  training.model.layers = 12;
  EXPECT_THAT(why_no_weights(training, ours), HasSubstr("keeps no best checkpoint"));
  training.checkpoint.best = "eval/mlm_loss";
  EXPECT_EQ(why_no_weights(training, ours), "");
  EXPECT_THAT(why_no_weights(ours, ours), HasSubstr("serves a model"));
}

}  // namespace
}  // namespace podium
