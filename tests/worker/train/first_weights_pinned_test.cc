// Until a run has a checkpoint of its own, each of its attempts begins with the same weights, which are for
// its model and its tokens.
#include "tests/worker/comm/world.h"
#include "tests/worker/train/first_weights_fixture.h"
#include "worker/train/folder_origin.h"
#include "worker/train/pinned_origin.h"

namespace podium {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

class PinnedWeights : public FirstWeightsOf {
 protected:
  PinnedWeights() {
    launch_.init_folder = run_;
    launch_.spec.model.init_job = JobCheckpoint{{12}};
    launch_.spec.data.tokenizer.wordpiece = "ours.txt";
  }

  // What begins now begins as it did, or not at all.
  std::string with_the_remedy() const {
    return ". Bring those back, or delete " + pinned().string() + " to begin anew with others";
  }

  void learn_tokens(std::vector<std::string> more) {
    std::vector<std::string> tokens{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
    std::ranges::move(more, std::back_inserter(tokens));
    const auto vocabulary = std::make_shared<const Vocabulary>(std::move(tokens), "tokens");
    tasks_.vocabulary = vocabulary->size();
    tasks_.tokens = [vocabulary](std::int64_t count) { return identity_of(*vocabulary, count); };
  }
  VocabularyIdentity all_tokens() const { return tasks_.tokens(tasks_.vocabulary); }
};

TEST_F(PinnedWeights, AreNoOthersWhereAnotherBecameTheBest) {
  const Weights best = save(2, {"eval/f1", 2, 88});
  EXPECT_EQ(begin(), best);
  const Origin origin = begun_.origin;
  const Weights better = save(3, {"eval/f1", 3, 90});
  EXPECT_EQ(begin(), best);
  EXPECT_EQ(begun_.origin, origin);
  begin_another_run();
  EXPECT_EQ(begin(), better);
}

TEST_F(PinnedWeights, OfAPathAreNoOthersWhereItHasANewerCheckpoint) {
  launch_.spec.model.init_job.reset();
  launch_.spec.model.init = "run";
  const Weights first = save(2);
  EXPECT_EQ(begin(), first);
  save(3);
  EXPECT_EQ(begin(), first);
  EXPECT_EQ(nlohmann::json::parse(read_file(pinned())), to_json(begun_.origin));
}

// Another node may have the shared folder elsewhere.
TEST_F(PinnedWeights, AreFoundWhereTheFolderHasMoved) {
  const Weights first = save(2);
  begin();
  const Origin origin = begun_.origin;
  fs::rename(run_, folder_.path() / "moved");
  launch_.init_folder = folder_.path() / "moved";
  EXPECT_EQ(begin(), first);
  EXPECT_EQ(begun_.origin.path, folder_.path() / "moved" / "step-00000002");
  EXPECT_EQ(begun_.origin.xxh3, origin.xxh3);
}

TEST_F(PinnedWeights, ThatAreGoneOrOthersAreRefusedByNameWithTheRemedy) {
  save(2), save(3);
  begin();
  const std::string begins = "exit 65: job \"squad\" began with the weights of " + describe(begun_.origin);
  break_step(3);
  EXPECT_THAT(refused(), AllOf(StartsWith(begins), HasSubstr("step-00000003 is not whole"),
                               HasSubstr(with_the_remedy())));
  fs::remove_all(run_ / "step-00000003");
  EXPECT_THAT(refused(), AllOf(StartsWith(begins), HasSubstr(with_the_remedy())));
  save(3, {}, 1000);
  EXPECT_THAT(refused(), AllOf(StartsWith(begins), HasSubstr("step-00000003 is another checkpoint now (XXH3"),
                               HasSubstr(with_the_remedy())));
  fs::remove(pinned());
  EXPECT_EQ(refused(), "");
}

TEST_F(PinnedWeights, OfAPathThatIsGoneAreRefusedByTheSameWords) {
  launch_.spec.model.init_job.reset();
  launch_.spec.model.init = "run/step-00000002";
  save(2);
  begin();
  fs::remove_all(run_);
  EXPECT_THAT(refused(),
              AllOf(HasSubstr("began with the weights of step 2 of"), HasSubstr(with_the_remedy())));
}

TEST_F(PinnedWeights, AreRefusedWhereTheSpecNamesNoCheckpointAnyMore) {
  save(2);
  begin();
  launch_.spec.model.init_job.reset();
  EXPECT_THAT(refused(), AllOf(HasSubstr("and the spec names none now"), HasSubstr(with_the_remedy())));
  test::LoneModel lone(trained_, {});
  write_as_hugging_face(lone.model->parameters(), folder_.path() / "model");
  launch_.spec.model.init = "model";
  EXPECT_THAT(refused(),
              AllOf(HasSubstr("is a Hugging Face folder with other files"), HasSubstr(with_the_remedy())));
}

TEST_F(PinnedWeights, AreRefusedWhereTheSpecNamesOthersByTheirHash) {
  save(2);
  begin();
  launch_.spec.model.init_xxh3 = begun_.origin.xxh3;
  EXPECT_EQ(refused(), "");
  launch_.spec.model.init_xxh3 = "0123456789abcdef";
  EXPECT_THAT(refused(), AllOf(HasSubstr("and model.init.xxh3 names others now (0123456789abcdef)"),
                               HasSubstr(with_the_remedy())));
}

TEST_F(PinnedWeights, AreNotForgottenWhereTheirFileIsBroken) {
  save(2);
  write_file_atomic(pinned(), "{\"path\": \"/");
  EXPECT_THAT(refused(), AllOf(StartsWith("exit 65: " + pinned().string()),
                               HasSubstr("bring it back as it was, or delete it")));
  fs::remove(pinned());
  fs::create_directories(pinned());
  EXPECT_THAT(refused(), HasSubstr("exit 73: cannot read which weights this run began with"));
}

TEST_F(PinnedWeights, CannotBePinnedWhereNothingCanBeWritten) {
  save(2);
  launch_.checkpoint_folder = folder_.path() / "nowhere";
  EXPECT_THAT(refused(), HasSubstr("exit 73: cannot write down which weights this run begins with"));
}

TEST_F(PinnedWeights, DrawnOnesLeaveNothingBehind) {
  launch_.spec.model.init_job.reset();
  begin();
  EXPECT_FALSE(fs::exists(pinned()));
}

TEST_F(PinnedWeights, AreThoseOfTheManifestThatTheSpecNames) {
  const Weights first = save(2);
  save(3);
  launch_.spec.model.init_job->choice = CheckpointChoice::step;
  launch_.spec.model.init_job->step = 2;
  launch_.spec.model.init_xxh3 = read_manifest(run_ / "step-00000002").xxh3;
  EXPECT_EQ(begin(), first);
  begin_another_run();
  launch_.spec.model.init_job->step = 3;
  EXPECT_THAT(refused(),
              AllOf(StartsWith("exit 64: job \"squad\" cannot begin with the weights of step 3 of job 12"),
                    HasSubstr("step-00000003 is another checkpoint"),
                    HasSubstr("the one that model.init.xxh3 names (" + launch_.spec.model.init_xxh3)));
  launch_.spec.model.init_job.reset();
  launch_.spec.model.init = "run/step-00000003";
  EXPECT_THAT(refused(), HasSubstr("step-00000003 is another checkpoint"));
  test::LoneModel lone(trained_, {});
  write_as_hugging_face(lone.model->parameters(), folder_.path() / "model");
  launch_.spec.model.init = "model";
  EXPECT_THAT(refused(), HasSubstr("is not the one that model.init.xxh3 names"));
  launch_.spec.model.init_xxh3 = folder_origin(folder_.path() / "model").xxh3;
  EXPECT_EQ(refused(), "");
}

TEST_F(PinnedWeights, OfAHuggingFaceFolderAreNoOthersWhenItsFilesHaveChanged) {
  const fs::path model = folder_.path() / "model";
  const auto write = [&](std::uint64_t seed) {
    fs::remove_all(model);
    test::LoneModel lone(trained_, {});
    test::randomise(lone.model->parameters(), seed);
    write_as_hugging_face(lone.model->parameters(), model);
  };
  launch_.spec.model.init_job.reset();
  launch_.spec.model.init = "model";
  write(1);
  const Weights first = begin();
  EXPECT_EQ(nlohmann::json::parse(read_file(pinned())), to_json(begun_.origin));
  EXPECT_EQ(begin(), first);
  const std::string then = describe(begun_.origin);
  write(2);
  EXPECT_THAT(refused(), AllOf(StartsWith("exit 65: job \"squad\" began with the weights of " + then),
                               HasSubstr(with_the_remedy())));
  fs::remove(pinned());
  EXPECT_NE(begin(), first);
}

TEST_F(PinnedWeights, AreForTheTokensThatTheyWereTrainedFor) {
  learn_tokens({"the", "a", "of"});
  their_tokens_ = all_tokens();
  const Weights weights = save(2);
  EXPECT_EQ(begin(), weights);
  EXPECT_THAT(begun_.warnings, SizeIs(0));
  begin_another_run();
  learn_tokens({"the", "a", "of", "river"});
  EXPECT_EQ(begin(), weights) << "more tokens leave the ids of the others as they are";
  begin_another_run();
  for (const std::vector<std::string>& others :
       {std::vector<std::string>{"the", "of", "a"}, {"the", "a"}, {"a", "the", "of", "river"}}) {
    learn_tokens(others);
    EXPECT_THAT(
        refused(),
        AllOf(StartsWith("exit 64: job \"squad\" cannot begin with the weights of job 12: they are for "
                         "the tokens of theirs.txt (" +
                         describe(their_tokens_) + "), and data.tokenizer has others in ours.txt (" +
                         describe(all_tokens()) + ")"),
              HasSubstr("train on with the vocabulary of the weights")));
  }
  EXPECT_FALSE(fs::exists(pinned())) << "nothing has begun";
}

TEST_F(PinnedWeights, OfACheckpointWithoutTokensAreTakenWithAWarning) {
  learn_tokens({"the"});
  save(2);
  begin();
  EXPECT_THAT(begun_.warnings, ElementsAre(AllOf(HasSubstr("step-00000002 does not tell its tokens"),
                                                 HasSubstr("theirs.txt"), HasSubstr("ours.txt"))));
}

// A Hugging Face folder may hold its tokenizer.
TEST_F(PinnedWeights, OfAHuggingFaceFolderAreForItsTokens) {
  const fs::path model = folder_.path() / "model";
  test::LoneModel lone(trained_, {});
  write_as_hugging_face(lone.model->parameters(), model);
  launch_.spec.model.init_job.reset();
  launch_.spec.model.init = "model";
  learn_tokens({"the", "a"});
  begin_another_run();
  begin();
  EXPECT_THAT(begun_.warnings,
              ElementsAre(AllOf(HasSubstr("model holds no tokenizer"), HasSubstr("ours.txt"))));
  write_file_atomic(model / "vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\na\nriver\n");
  begin_another_run();
  begin();
  EXPECT_THAT(begun_.warnings, SizeIs(0)) << "what comes behind the run's last does not matter";
  learn_tokens({"a", "the"});
  begin_another_run();
  EXPECT_THAT(refused(),
              AllOf(StartsWith("exit 64: job \"squad\" cannot begin with the weights of " + model.string() +
                               ": they are for the tokens of " + model.string() + " (7 tokens"),
                    HasSubstr("has others in ours.txt (7 tokens")));
  write_file_atomic(model / "vocab.txt", "[PAD]\n[PAD]\n");
  begin_another_run();
  begin();
  EXPECT_THAT(begun_.warnings, ElementsAre(HasSubstr("whether its weights are for the tokens of ours.txt")));
}

// Each rank has a part of the model, and only the first what is missing here.
TEST_F(PinnedWeights, LackNothingButAHead) {
  save(2);
  const std::string lost = "bert.encoder.layer.0.attention.self.query.bias";
  CheckpointManifest manifest = read_manifest(run_ / "step-00000002");
  for (auto& [name, part] : manifest.files)
    std::erase_if(part.pieces, [&](const Piece& piece) { return piece.parameter == lost; });
  write_file_atomic(run_ / "step-00000002" / kManifestName, manifest_text(manifest));
  run_threads(2, [&](Communicator& world) {
    Context context{.threads = 1};
    const ParallelGroups groups = make_groups(world, {.pipeline = 2});
    const auto model = make_model(context, trained_, {}, groups);
    try {
      fill_first_weights(launch_, trained_, {}, model->parameters(), world, 1);
      ADD_FAILURE() << "rank " << world.rank() << " begins";
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.exit, WorkerExit::bad_data);
      EXPECT_THAT(failure.what(), HasSubstr("step-00000002 lacks " + lost + " of the model"));
    }
  });
  EXPECT_FALSE(fs::exists(pinned()));
}

}  // namespace
}  // namespace podium
