// What a run begins with: weights of another run's checkpoint, to the bit on any layout, or one clear error.
#include "tests/worker/comm/world.h"
#include "tests/worker/train/first_weights_fixture.h"
#include "worker/train/folder_origin.h"
#include "worker/nn/linear.h"

namespace podium {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

// Of no use but for its parameter.
class OtherHead final : public Head {
 public:
  OtherHead(ParameterStore& store, const TensorGroup& tensor, const ModelSpec& spec)
      : outputs_(store, tensor, {{"other_outputs", 3}}, spec.hidden) {}
  ConstTensorView run(const PassContext&, ConstTensorView, TensorView) override { return {}; }

 private:
  Linear outputs_;
};

HeadPlan other_head() {
  return {{{"other"}},
          [](ParameterStore& store, const TensorGroup& tensor, const ModelSpec& spec, ParameterId) {
            return std::make_unique<OtherHead>(store, tensor, spec);
          },
          [](const ModelSpec&, const MicroBatch&) { return 0.0; }};
}

TEST_F(FirstWeightsOf, AJobAreThoseOfItsCheckpointToTheBit) {
  const Weights weights = save(200);
  EXPECT_EQ(begin_with(CheckpointChoice::best_or_newest), weights);
  const CheckpointManifest manifest = read_manifest(run_ / "step-00000200");
  EXPECT_EQ(begun_.origin, (Origin{(run_ / "step-00000200").string(), 200, manifest.xxh3}));
  EXPECT_EQ(begun_.note,
            "begins with the weights of step 200 of " + begun_.origin.path + " (XXH3 " + manifest.xxh3 + ")");
  EXPECT_THAT(begun_.warnings, testing::ElementsAre(HasSubstr("does not tell its tokens")));
}

// The hash is that of the manifest, which no other checkpoint has.
TEST_F(FirstWeightsOf, TheOriginTellsOneCheckpointFromAnother) {
  save(1), save(2);
  begin_with(CheckpointChoice::step, 1);
  const Origin first = begun_.origin;
  begin_with(CheckpointChoice::step, 2);
  EXPECT_NE(first.xxh3, begun_.origin.xxh3);
  const std::string text = read_file(run_ / "step-00000001" / kManifestName);
  EXPECT_THAT(text, HasSubstr("\"xxh3\": \"" + first.xxh3 + "\"")) << "as it lies on the disk";
}

// Every element, on each rank of each layout, against the single rank's.
TEST_F(FirstWeightsOf, AnyLayoutTakesWhatASingleRankSaved) {
  const Weights weights = save(7);
  launch_.init_folder = run_;
  launch_.spec.model.init_job = JobCheckpoint{{12}};
  for (const ParallelLayout& layout :
       {ParallelLayout{.tensor = 2, .pipeline = 1, .data = 2}, ParallelLayout{.tensor = 2, .pipeline = 2}}) {
    begin_another_run();
    std::atomic<std::int64_t> compared = 0, wrong = 0;
    run_threads(4, [&](Communicator& world) {
      Context context{.threads = 1};
      const ParallelGroups groups = make_groups(world, layout);
      const auto model = make_model(context, trained_, {}, groups);
      ParameterStore& parameters = model->parameters();
      const FirstWeights begun = fill_first_weights(launch_, trained_, {}, parameters, world, 1);
      EXPECT_EQ(begun.origin.step, 7);
      for (const Parameter& p : parameters.list()) {
        const std::vector<float>& whole = weights.at(p.name);
        const std::int64_t columns = p.shape.rank() == 2 ? p.shape[1] : 1;
        const std::int64_t all_columns = p.shape.rank() == 2 ? p.full_shape()[1] : 1;
        for (std::int64_t i = 0; i < p.size(); ++i) {
          const std::int64_t row = i / columns + (p.slice.axis == 0 ? p.slice.begin : 0);
          const std::int64_t column = i % columns + (p.slice.axis == 1 ? p.slice.begin : 0);
          ++compared;
          wrong += parameters.weights(p)[static_cast<std::size_t>(i)] !=
                   whole[static_cast<std::size_t>(row * all_columns + column)];
        }
      }
    });
    EXPECT_GT(compared, 100000);
    EXPECT_EQ(wrong, 0);
  }
}

TEST_F(FirstWeightsOf, OfAJobTheBestComesBeforeTheNewest) {
  const Weights first = save(1), best = save(2, {"eval/f1", 2, 88}), newest = save(3, {"eval/f1", 2, 88});
  EXPECT_EQ(begin_with(CheckpointChoice::best_or_newest), best);
  EXPECT_EQ(begin_with(CheckpointChoice::best), best);
  EXPECT_EQ(begin_with(CheckpointChoice::newest), newest);
  EXPECT_EQ(begin_with(CheckpointChoice::step, 1), first);
  EXPECT_EQ(begun_.origin.step, 1);
}

TEST_F(FirstWeightsOf, ABrokenBestGivesWayToTheNewestWithAWarning) {
  save(2, {"eval/f1", 2, 88});
  const Weights newest = save(3, {"eval/f1", 2, 88});
  break_step(2);
  EXPECT_EQ(begin_with(CheckpointChoice::best_or_newest), newest);
  EXPECT_THAT(begun_.warnings, testing::Contains(HasSubstr("step-00000002 is not whole")));
  EXPECT_THAT(refusal(WorkerExit::bad_data, CheckpointChoice::best), HasSubstr("step-00000002 is not whole"));
}

TEST_F(FirstWeightsOf, ABrokenNewestGivesWayToTheOneBefore) {
  const Weights before = save(2);
  save(3);
  break_step(3);
  EXPECT_EQ(begin_with(CheckpointChoice::newest), before);
  EXPECT_THAT(begun_.warnings, testing::Contains(HasSubstr("step-00000003 is not whole")));
}

TEST_F(FirstWeightsOf, AJobWithoutAWholeCheckpointIsRefusedByBothNames) {
  EXPECT_EQ(refusal(WorkerExit::bad_spec),
            "job \"squad\" cannot begin with the weights of job 12: " + run_.string() +
                " holds no checkpoint; let it write one, or leave model.init out");
  EXPECT_THAT(refusal(WorkerExit::bad_spec, CheckpointChoice::step, 3),
              HasSubstr("has no checkpoint of step 3; it has none"));
  save(2);
  EXPECT_THAT(refusal(WorkerExit::bad_spec, CheckpointChoice::step, 3),
              HasSubstr("the weights of step 3 of job 12: " + run_.string() +
                        " has no checkpoint of step 3; it has step-00000002"));
  EXPECT_THAT(refusal(WorkerExit::bad_spec, CheckpointChoice::best),
              HasSubstr("it keeps no best checkpoint; write \"checkpoint: newest\""));
  break_step(2);
  EXPECT_THAT(refusal(WorkerExit::bad_data), HasSubstr("none of the 1 checkpoints in " + run_.string()));
  EXPECT_THAT(refusal(WorkerExit::bad_data, CheckpointChoice::step, 2), HasSubstr("is not whole"));
}

TEST_F(FirstWeightsOf, AModelOfAnotherShapeIsRefusedByTheNamesOfWhatDiffers) {
  save(2);
  launch_.spec.model.layers = 3;
  launch_.spec.model.heads = 2;
  EXPECT_THAT(
      refusal(WorkerExit::bad_spec),
      testing::AllOf(HasSubstr("job \"squad\" cannot begin with the weights of job 12: the models differ"),
                     HasSubstr("model.layers is 2 there and 3 here, model.heads is 4 there and 2 here")));
}

TEST_F(FirstWeightsOf, AHeadThatTheCheckpointHasNotIsDrawn) {
  const Weights trained = save(2);
  launch_.init_folder = run_;
  launch_.spec.model.init_job = JobCheckpoint{{12}};
  const Weights begun = begin({.head = other_head()});
  EXPECT_EQ(begun.at(kWord), trained.at(kWord));
  EXPECT_FALSE(begun.contains("cls.predictions.bias"));
  EXPECT_THAT(begun_.note, HasSubstr(", but for other_outputs.weight, other_outputs.bias, which are drawn"));
  launch_.spec.model.init_job.reset();
  begin_another_run();
  EXPECT_EQ(begin({.head = other_head()}).at("other_outputs.weight"), begun.at("other_outputs.weight"))
      << "as without other weights";
}

// The last stage, on another rank than the one that tells, has the head.
TEST_F(FirstWeightsOf, AHeadThatIsDrawnIsToldOfAPipelineToo) {
  save(2);
  launch_.init_folder = run_;
  launch_.spec.model.init_job = JobCheckpoint{{12}};
  run_threads(2, [&](Communicator& world) {
    Context context{.threads = 1};
    const ParallelGroups groups = make_groups(world, {.pipeline = 2});
    const auto model = make_model(context, trained_, {.head = other_head()}, groups);
    const FirstWeights begun = fill_first_weights(launch_, trained_, {}, model->parameters(), world, 1);
    EXPECT_THAT(begun.note, HasSubstr("but for other_outputs.weight"));
  });
}

TEST_F(FirstWeightsOf, ALargerVocabularyBeginsWithTheTokensOfTheSmaller) {
  const Weights trained = save(2);
  launch_.spec.model.vocab = 208;
  const Weights begun = begin_with(CheckpointChoice::newest);
  launch_.spec.model.init_job.reset();
  begin_another_run();
  const Weights drawn = begin();
  for (const std::string name : {kWord, "cls.predictions.bias"}) {
    const std::vector<float>&now = begun.at(name), &then = trained.at(name), &fresh = drawn.at(name);
    ASSERT_GT(now.size(), then.size());
    EXPECT_TRUE(std::equal(then.begin(), then.end(), now.begin())) << name;
    EXPECT_TRUE(std::equal(now.begin() + std::ssize(then), now.end(), fresh.begin() + std::ssize(then)))
        << name;
  }
  launch_.spec.model.vocab = 192;
  EXPECT_THAT(refusal(WorkerExit::bad_spec), HasSubstr("model.vocab is 200 there and 192 here"));
}

// Tensor ranks share the tokens; the second's share begins within the rows that are there, or beyond them.
TEST_F(FirstWeightsOf, ALargerVocabularyIsSharedByTensorRanks) {
  const Weights trained = save(2);
  ModelSpec larger = trained_;
  larger.vocab = 480;
  launch_.init_folder = run_;
  launch_.spec.model.init_job = JobCheckpoint{{12}};
  run_threads(2, [&](Communicator& world) {
    Context context{.threads = 1};
    const ParallelGroups groups = make_groups(world, {.tensor = 2});
    const auto model = make_model(context, larger, {}, groups);
    ParameterStore& parameters = model->parameters();
    fill_first_weights(launch_, larger, {}, parameters, world, 1);
    const Parameter& word = *parameters.find(kWord);
    const std::vector<float>& then = trained.at(kWord);
    ASSERT_EQ(word.slice.begin, 240 * world.rank());
    if (world.rank() == 0)
      EXPECT_TRUE(std::equal(then.begin(), then.end(), parameters.weights(word).begin()));
    else
      EXPECT_NE(parameters.weights(word)[0], then[0]);
  });
}

TEST_F(FirstWeightsOf, APathIsACheckpointOrAFolderOfThem) {
  const Weights first = save(1), newest = save(2);
  launch_.spec.model.init = "run/step-00000001";
  EXPECT_EQ(begin(), first);
  begin_another_run();
  launch_.spec.model.init = "run";
  EXPECT_EQ(begin(), newest);
  begin_another_run();
  launch_.spec.model.init = run_.string();
  EXPECT_EQ(begin(), newest) << "an absolute path is what it says";
}

TEST_F(FirstWeightsOf, APathOfAHuggingFaceFolderHasItsFilesHash) {
  test::LoneModel lone(trained_, {});
  write_as_hugging_face(lone.model->parameters(), folder_.path() / "model");
  launch_.spec.model.init = "model";
  const Weights begun = begin();
  EXPECT_TRUE(std::ranges::equal(begun.at(kWord),
                                 lone.model->parameters().weights(*lone.model->parameters().find(kWord))));
  EXPECT_EQ(begun_.origin,
            (Origin{folder_.path() / "model", 0, folder_origin(folder_.path() / "model").xxh3}));
  EXPECT_EQ(begun_.note, "begins with the weights of " + describe(begun_.origin));
}

TEST_F(FirstWeightsOf, APathThatIsNeitherIsBadData) {
  EXPECT_THAT(bad_path("nothing"),
              HasSubstr("nothing is neither a Hugging Face folder, which has a config.json"));
  save(1);
  break_step(1);
  EXPECT_THAT(bad_path("run/step-00000001"), testing::AllOf(HasSubstr("exit 65"), HasSubstr("is not whole")));
  EXPECT_THAT(bad_path("run"), testing::AllOf(HasSubstr("exit 65"), HasSubstr("none of the 1 checkpoints")));
  write_file_atomic(folder_.path() / "file", "text");
  EXPECT_THAT(bad_path("file"), HasSubstr("is neither"));
}

}  // namespace
}  // namespace podium
