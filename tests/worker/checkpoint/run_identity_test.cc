// Which spec may go on from which checkpoint.
#include "worker/checkpoint/run_identity.h"

#include <gmock/gmock.h>

#include "common/base/file.h"
#include "common/spec/defaults.h"
#include "tests/paths.h"
#include "worker/checkpoint/weights.h"
#include "worker/data/xxh3.h"

namespace podium {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string golden(const std::string& name) { return read_file(test::source_path("tests/golden/" + name)); }

JobSpec golden_spec() { return job_spec_from_json(json::parse(golden("launch.json")).at("spec")); }

// Written before a manifest told of its text, by a program that hashed all keys of the spec, also its
// defaults.
TEST(RunIdentity, ACheckpointOfFormatTwoIsOfTheSpecItWasStartedWith) {
  const CheckpointState old = parse_manifest(golden("checkpoint-manifest-2.json")).state;
  EXPECT_EQ(old.step, 200);
  EXPECT_EQ(old.passed_over, 0);
  EXPECT_EQ(old.loss_scaler.not_finite, 0);
  const TextIdentity text{1000, 50, "0123456789abcdef"};
  EXPECT_EQ(why_another_run(old, golden_spec()), "");
  EXPECT_EQ(why_other_text(old, golden_spec(), text), "");
  JobSpec moved = golden_spec();
  moved.data.train = {"elsewhere.txt"};
  EXPECT_EQ(why_another_run(old, moved), "");
  EXPECT_THAT(why_other_text(old, moved, text), HasSubstr("elsewhere.txt"));
}

TEST(RunIdentity, OtherTextIsToldWithAllThatMayHaveMadeItOther) {
  CheckpointState then;
  then.spec = golden_spec();
  then.text = {1000, 50, "0123456789abcdef"};
  EXPECT_EQ(why_other_text(then, golden_spec(), then.text), "");
  EXPECT_THAT(why_other_text(then, golden_spec(), {1001, 50, "fedcba9876543210"}),
              AllOf(HasSubstr("it was trained on other text"),
                    HasSubstr("give data.train and data.tokenizer the files of then"),
                    HasSubstr("another version of Podium made the checkpoint and reads some characters "
                              "differently")));
}

TEST(RunIdentity, OtherWeightsAreNamedAndNotTheText) {
  CheckpointState then;
  then.spec = golden_spec();
  then.spec.data.train = {"a", "b"};
  then.spec.data.weights = {3, 1};
  then.text = {1000, 50, "0123456789abcdef"};
  const TextIdentity other{1000, 50, "fedcba9876543210"};
  JobSpec now = then.spec;
  now.data.weights = {1, 1};
  EXPECT_THAT(why_other_text(then, now, other),
              AllOf(HasSubstr("other weights of data.train: shares of 0.75, 0.25 then, 0.5, 0.5 now"),
                    Not(HasSubstr("other text"))));
  now.data.weights = {0.75, 0.25};
  EXPECT_EQ(why_other_text(then, now, then.text), "");
  EXPECT_THAT(why_other_text(then, now, other), HasSubstr("it was trained on other text"));
}

// The hash of this spec is part of the format: where it changes, "podium-worker inspect" tells two
// checkpoints of one run apart.
TEST(RunIdentity, TheFingerprintIsTheGoldenOne) {
  EXPECT_EQ(run_fingerprint(golden_spec()), "0f1f4ac254680917");
  EXPECT_EQ(run_fingerprint(parse_manifest(golden("checkpoint-manifest-2.json")).state.spec),
            "0f1f4ac254680917");
}

// As if the format had never had the key: what is said as by default is not hashed.
TEST(RunIdentity, AKeyThatIsNewAndAtItsDefaultStrandsNoCheckpoint) {
  json now = json::parse(golden("launch.json")).at("spec");
  for (const char* key : {"fp8", "stochastic_rounding"}) now["training"][key] = false;
  now["training"].erase("phases");
  now["model"].erase("init");
  json before = now;
  for (const char* key : {"fp8", "stochastic_rounding", "recompute", "unpadded", "timed_products"})
    before["training"].erase(key);
  CheckpointState then;
  then.spec = job_spec_from_json(before);
  EXPECT_EQ(why_another_run(then, job_spec_from_json(now)), "");
}

// Specs of before had no training.classify, and their runs no dropout before the classifier.
TEST(RunIdentity, AClassificationOfBeforeGoesOnWithoutDropoutBeforeItsClassifier) {
  JobSpec then;
  then.training.task = TrainingTask::classify;
  Xxh3 hash;
  const std::string text = R"({"training":{"task":"classify"}})";
  hash.add(std::as_bytes(std::span(text)));
  EXPECT_EQ(run_fingerprint(then), hash.digest().xxh3);
  nlohmann::json stored = to_json(then);
  stored["training"].erase("classify");
  EXPECT_EQ(run_fingerprint(job_spec_from_json(stored)), run_fingerprint(then));
  JobSpec now = then;
  now.training.classify.sentence = {.number = 4};
  now.training.classify.header = false;
  now.training.classify.labels = {"0", "1"};
  EXPECT_EQ(run_fingerprint(now), run_fingerprint(then)) << "how the same text is read";
  now.training.classify.dropout = 0.1;
  EXPECT_THAT(why_another_run({.spec = then}, now),
              HasSubstr("training.classify.dropout was 0.0 and is 0.1"));
}

// Labels that a checkpoint does not tell have their numbers alone, as many as the classifier has.
TEST(RunIdentity, AClassificationOfBeforeHasLabelsWithoutNames) {
  CheckpointManifest manifest;
  manifest.state.spec.training.task = TrainingTask::classify;
  auto& pieces = manifest.files["rank-00000.safetensors"].pieces;
  pieces = {{"classifier.weight", whole_box({3, 32}), 0, 96}, {"classifier.bias", whole_box({3}), 0, 3}};
  EXPECT_THAT(head_of(manifest).labels, testing::ElementsAre("LABEL_0", "LABEL_1", "LABEL_2"));
  pieces = {{"classifier.weight", whole_box({1, 32}), 0, 32}};
  EXPECT_THAT(head_of(manifest).labels, testing::IsEmpty()) << "a value";
  manifest.state.labels = {"no", "yes"};
  EXPECT_THAT(head_of(manifest).labels, testing::ElementsAre("no", "yes"));
}

TEST(RunIdentity, WhatShapesTheRunIsNamedWhereItDiffers) {
  CheckpointState then;
  then.spec = golden_spec();
  JobSpec now = golden_spec();
  now.training.optimizer.lr = 0.02;
  EXPECT_THAT(why_another_run(then, now), HasSubstr("training.optimizer.lr was 0.01 and is 0.02"));
  now = golden_spec();
  now.training.phases.at(0).schedule.steps = 501;
  EXPECT_THAT(why_another_run(then, now), HasSubstr("training.phases.0.schedule.steps was 500 and is 501"));
  now = golden_spec();
  now.training.phases.clear();
  EXPECT_NE(why_another_run(then, now), "");
}

// "resume" and "model.init" exclude each other, so that a job which began with init could never be gone on
// from.
TEST(RunIdentity, ARunThatBeganFromAModelIsGoneOnFromWithoutIt) {
  CheckpointState then;
  then.spec = golden_spec();
  ASSERT_NE(then.spec.model.init, "");
  JobSpec now = golden_spec();
  now.model.init = "";
  EXPECT_EQ(why_another_run(then, now), "");
  EXPECT_EQ(run_fingerprint(now), run_fingerprint(then.spec));
}

// Its spec said nothing of epsilon, which was 1e-6 by default for all; GPT's is 1e-8 now.
TEST(RunIdentity, AGptCheckpointOfFormatTwoNamesTheEpsilonItNeeds) {
  const CheckpointState old = parse_manifest(golden("checkpoint-manifest-2-gpt.json")).state;
  const json submitted = json::parse(R"({"version": 1, "name": "gpt",
      "model": {"family": "gpt", "layers": 2, "hidden": 128, "heads": 2, "vocab": 2048, "max_positions": 64},
      "data": {"train": ["corpus/train.txt"],
               "tokenizer": {"bpe": {"vocab": "corpus/vocab.json", "merges": "corpus/merges.txt"}}},
      "training": {"task": "lm", "precision": "bf16", "optimizer": {"name": "adamw", "lr": 0.001},
                   "schedule": {"steps": 2000, "warmup": 0.1}, "batch": {"global": 64, "micro": 32},
                   "sequence_length": 64},
      "resources": {"devices": 2, "kind": "cpu", "walltime": "1h"}})");
  const auto why = [&](const json& spec) {
    return why_another_run(old, job_spec_from_json(with_defaults(spec)));
  };
  EXPECT_EQ(why(submitted), "it comes from another run: training.optimizer.epsilon was 1e-06 and is 1e-08");
  json mended = submitted;
  mended["training"]["optimizer"]["epsilon"] = 1e-6;
  EXPECT_EQ(why(mended), "");
}

TEST(RunIdentity, OnlyTheStepsOfTheLastPhaseAreTakenFromAnother) {
  JobSpec longer = golden_spec();
  longer.training.schedule.steps += 1;
  longer.training.phases.at(0).schedule.steps += 1000;
  const JobSpec same = with_steps_of(golden_spec(), longer);
  EXPECT_EQ(same.training.phases.at(0).schedule.steps, golden_spec().training.phases.at(0).schedule.steps);
  EXPECT_EQ(same.training.schedule.steps, longer.training.schedule.steps) << "of an earlier phase";
}

TEST(RunIdentity, WhereAndInWhatPiecesARunIsComputedDoesNotMatter) {
  CheckpointState then;
  then.spec = golden_spec();
  JobSpec now = golden_spec();
  now.name = "another";
  now.parallel.tensor = 2;
  now.resources.devices = 8;
  now.checkpoint = {7, 1, true};
  now.evaluate.every = 3;
  now.training.log_every = 1;
  now.training.batch.micro = 1;
  now.training.phases.at(0).batch.micro = 1;
  now.training.recompute = Recompute::full;
  now.training.recompute_layers = 1;
  now.training.unpadded = !now.training.unpadded;
  EXPECT_EQ(why_another_run(then, now), "");
}

TEST(RunIdentity, ADropoutThatIsNewTellsTheWayOn) {
  CheckpointState then;
  then.spec.training.task = TrainingTask::classify;
  JobSpec now = then.spec;
  now.training.classify.dropout = 0.1;
  const char* const way_on = "; to go on without that dropout write training.classify.dropout: 0";
  EXPECT_THAT(why_another_run(then, now), testing::EndsWith(way_on));
  then.spec.training.classify.dropout = 0.2;
  EXPECT_THAT(why_another_run(then, now), testing::Not(HasSubstr(way_on)));
  EXPECT_THAT(why_another_run({.spec = now}, then.spec), testing::Not(HasSubstr(way_on)));
  now.training.classify.dropout = 0;
  EXPECT_THAT(why_another_run(then, now), testing::Not(HasSubstr(way_on)));
}

}  // namespace
}  // namespace podium
