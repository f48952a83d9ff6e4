#include "worker/train/job_model.h"

#include <gmock/gmock.h>

#include "tests/worker/comm/thread_device.h"
#include "tests/worker/nn/small_models.h"
#include "worker/data/failure.h"
#include "worker/nn/pretraining_head.h"

namespace podium {
namespace {

TEST(JobModel, TheVocabularyHoldsTheTokenizers) {
  JobSpec spec;
  EXPECT_EQ(model_of(spec, 9).vocab, 16) << "padded to a multiple of 8";
  spec.model.vocab = 9;
  EXPECT_EQ(model_of(spec, 9).vocab, 9);
  spec.model.vocab = 8;
  EXPECT_THROW(model_of(spec, 9), Failure);
}

TEST(JobModel, WhatTensorAndPipelineLeaveIsDataParallel) {
  JobSpec spec;
  spec.parallel.tensor = 2;
  spec.parallel.pipeline = 3;
  const ParallelLayout layout = layout_of(spec, 24);
  EXPECT_EQ(layout.tensor, 2);
  EXPECT_EQ(layout.pipeline, 3);
  EXPECT_EQ(layout.data, 4);
  EXPECT_THROW(layout_of(spec, 8), Failure);
}

TEST(JobModel, Fp8IsRefusedOnAGpuThatCannotMultiplyIt) {
  JobSpec spec;
  spec.training.precision = Precision::bf16;
  spec.training.fp8 = true;
  SingleCommunicator world;
  const ParallelGroups groups = make_groups(world, {});
  const auto refusal_on = [&](const std::string& architecture) -> std::string {
    ThreadDevice device("one", architecture);
    const auto stream = device.make_stream(StreamPriority::normal);
    Context context{.memory = {&device, stream.get()}};
    try {
      const auto model = make_job_model(context, spec, test::small_spec(ModelFamily::bert),
                                        pretraining_head(ModelFamily::bert), groups);
      stream->synchronise();
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.exit, WorkerExit::bad_spec);
      return failure.what();
    }
    return "";
  };
  EXPECT_THAT(refusal_on("sm_80"), testing::HasSubstr("sm_80"));
  EXPECT_EQ(refusal_on("sm_89"), "");
  EXPECT_EQ(refusal_on("sm_100"), "");
  Context cpu;
  EXPECT_NO_THROW(make_job_model(cpu, spec, test::small_spec(ModelFamily::bert),
                                 pretraining_head(ModelFamily::bert), groups));
}

}  // namespace
}  // namespace podium
