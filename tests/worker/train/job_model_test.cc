#include "worker/train/job_model.h"

#include <gtest/gtest.h>

#include "worker/train/failure.h"

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

}  // namespace
}  // namespace podium
