// The checkpoints that specs name and workers tell of, and which models their weights fit.
#include "common/model/origin.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "common/model/shape_differences.h"

namespace podium {
namespace {

using nlohmann::json;

TEST(Origin, ACheckpointOfAJobIsItsBestItsNewestOrAStep) {
  const JobCheckpoint any{{12}}, best{{12}, CheckpointChoice::best}, newest{{12}, CheckpointChoice::newest},
      step{{12}, CheckpointChoice::step, 200};
  for (const JobCheckpoint& each : {any, best, newest, step})
    EXPECT_EQ(job_checkpoint_from_json(to_json(each)), each);
  EXPECT_EQ(to_json(any), (json{{"job", 12}}));
  EXPECT_EQ(to_json(best), (json{{"job", 12}, {"checkpoint", "best"}}));
  EXPECT_EQ(to_json(step), (json{{"job", 12}, {"checkpoint", 200}}));
  EXPECT_EQ(describe(any), "job 12");
  EXPECT_EQ(describe(newest), "the newest checkpoint of job 12");
  EXPECT_EQ(describe(step), "step 200 of job 12");
  EXPECT_THROW(job_checkpoint_from_json({{"job", 12}, {"checkpoint", "oldest"}}), std::invalid_argument);
}

TEST(Origin, IsAPathAStepAndAHash) {
  const Origin origin{"/shared/jobs/12/checkpoints/step-00000200", 200, "0123456789abcdef"};
  EXPECT_EQ(origin_from_json(to_json(origin)), origin);
  EXPECT_EQ(describe(origin),
            "step 200 of /shared/jobs/12/checkpoints/step-00000200 (XXH3 0123456789abcdef)");
  EXPECT_TRUE(origin.known());
  EXPECT_FALSE(Origin{}.known());
  EXPECT_THROW(origin_from_json({{"path", "p"}, {"step", -1}, {"xxh3", origin.xxh3}}), std::invalid_argument);
  EXPECT_THROW(origin_from_json({{"path", "p"}, {"step", 1}, {"xxh3", ""}}), std::invalid_argument);
  EXPECT_THROW(origin_from_json({{"step", 1}, {"xxh3", origin.xxh3}}), json::exception);
}

ModelSpec small(ModelFamily family = ModelFamily::bert) {
  ModelSpec model;
  model.family = family;
  model.layers = 2;
  model.hidden = 64;
  model.heads = 4;
  model.intermediate = 256;
  model.vocab = 100;
  model.max_positions = 64;
  return model;
}

TEST(ShapeDifferences, AreToldByKeyWithBothValues) {
  ModelSpec other = small();
  other.layers = 3;
  other.heads = 2;
  EXPECT_EQ(describe(shape_differences(small(), other)),
            "model.layers is 2 there and 3 here, model.heads is 4 there and 2 here");
  other = small();
  other.family = ModelFamily::gpt;
  EXPECT_EQ(describe(shape_differences(small(), other)), "model.family is bert there and gpt here");
}

TEST(ShapeDifferences, EveryPartOfTheShapeCounts) {
  const auto told = [](auto change) {
    ModelSpec other = small(ModelFamily::llama);
    change(other);
    return describe(shape_differences(small(ModelFamily::llama), other));
  };
  EXPECT_EQ(told([](ModelSpec& m) { m.hidden = 128; }), "model.hidden is 64 there and 128 here");
  EXPECT_EQ(told([](ModelSpec& m) { m.intermediate = 128; }), "model.intermediate is 256 there and 128 here");
  EXPECT_EQ(told([](ModelSpec& m) { m.max_positions = 32; }), "model.max_positions is 64 there and 32 here");
  EXPECT_EQ(told([](ModelSpec& m) { m.key_value_heads = 2; }), "model.key_value_heads is 4 there and 2 here");
  EXPECT_EQ(told([](ModelSpec& m) { m.rope_theta = 5; }), "model.rope_theta is 10000.0 there and 5.0 here");
  EXPECT_EQ(told([](ModelSpec& m) { m.tie_embeddings = true; }),
            "model.tie_embeddings is false there and true here");
}

TEST(ShapeDifferences, WhatDoesNotShapeTheWeightsIsLeftAlone) {
  ModelSpec other = small();
  other.preset = "bert-mini";
  other.dropout = 0.5;
  other.attention_dropout = 0.5;
  other.initializer_range = 1;
  other.rope_theta = 5;  // of a family that has tables of positions
  EXPECT_THAT(shape_differences(small(), other), testing::IsEmpty());
}

TEST(ShapeDifferences, AVocabularyMayGrowAndMustNotShrink) {
  ModelSpec other = small();
  other.vocab = 108;
  EXPECT_THAT(shape_differences(small(), other), testing::IsEmpty());
  other.vocab = 0;  // the tokenizer's, which is not known yet
  EXPECT_THAT(shape_differences(small(), other), testing::IsEmpty());
  other.vocab = 92;
  EXPECT_EQ(describe(shape_differences(small(), other)), "model.vocab is 100 there and 92 here");
}

}  // namespace
}  // namespace podium
