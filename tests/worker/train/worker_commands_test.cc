// The commands a person types.
#include <gmock/gmock.h>

#include <algorithm>
#include <cctype>
#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include "common/base/file.h"
#include "tests/child.h"
#include "tests/faults/training_job.h"
#include "tests/paths.h"
#include "tests/worker/train/worker_job.h"
#include "worker/formats/hugging_face.h"
#include "worker/input/text_files.h"
#include "worker/tokenizer/bpe_vocabulary.h"

namespace podium {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// A tiny job as a spec may say it: the worker itself would also take uneven micro batches and a long warm-up.
JobSpec valid_job(std::int64_t steps) {
  JobSpec spec = tiny_job(steps);
  spec.training.batch = {8, 4};
  spec.training.schedule.warmup = 1;
  return spec;
}

class WorkerCommand : public testing::Test {
 protected:
  WorkerCommand() { write_training_data(folder_.path()); }

  std::unique_ptr<Child> start(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), test::program_path("podium-worker"));
    std::filesystem::remove(path("log"));
    return std::make_unique<Child>(arguments, path("log"));
  }
  int run(const std::vector<std::string>& arguments) { return exit_of(*start(arguments)); }
  std::string path(const std::string& name) const { return folder_.path() / name; }
  std::string output() const { return read_file(path("log")); }
  std::vector<std::string> local(const JobSpec& spec, const std::string& devices) const {
    write_file_atomic(path("job.json"), to_json(spec).dump());
    return {"local", path("job.json"), "--devices",    devices, "--threads",
            "1",     "--data",         folder_.path(), "--out", path("out")};
  }

  TempFolder folder_;
};

TEST_F(WorkerCommand, HelpShowsExamplesAndExitCodes) {
  EXPECT_EQ(run({"--help"}), 0);
  EXPECT_THAT(output(), HasSubstr("podium-worker local job.yaml"));
  EXPECT_THAT(output(), HasSubstr("75 port taken"));
}

TEST_F(WorkerCommand, AnUnknownCommandIsAMistakeOfTheUser) {
  EXPECT_EQ(run({"trian"}), 64);
  EXPECT_EQ(run({}), 64);
}

TEST_F(WorkerCommand, VocabWritesTheVocabulary) {
  EXPECT_EQ(run({"vocab", "--size", "60", "--out", path("built.txt"), path("corpus.txt")}), 0) << output();
  const std::string text = read_file(path("built.txt"));
  EXPECT_THAT(text, StartsWith("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 60);
  EXPECT_EQ(run({"vocab", "--out", path("v.txt"), path("no-such.txt")}), 65);
  EXPECT_THAT(output(), HasSubstr("no-such.txt"));
}

TEST_F(WorkerCommand, VocabWritesBytePairs) {
  EXPECT_EQ(run({"vocab", "--bpe", "--size", "300", "--out", path("tokenizer"), path("corpus.txt")}), 0)
      << output();
  const BpeVocabulary built = BpeVocabulary::load(path("tokenizer/vocab.json"), path("tokenizer/merges.txt"));
  EXPECT_EQ(built.size(), 300);
  EXPECT_EQ(run({"vocab", "--bpe", "--size", "100", "--out", path("tokenizer"), path("corpus.txt")}), 65);
  EXPECT_THAT(output(), HasSubstr("at least 257"));
}

TEST_F(WorkerCommand, LocalTrainsAndInspectDescribesTheResult) {
  ASSERT_EQ(run(local(valid_job(6), "2")), 0) << output();
  const std::string checkpoint = path("out/checkpoints/step-00000006");
  EXPECT_EQ(run({"inspect", checkpoint}), 0);
  EXPECT_THAT(output(), HasSubstr("step 6 of job"));
  EXPECT_THAT(output(), HasSubstr("written by 2 ranks: tensor 1 x pipeline 1 x data 2"));
  EXPECT_THAT(output(), HasSubstr("bert.embeddings.word_embeddings.weight ["));
  std::filesystem::resize_file(checkpoint + "/rank-00001.safetensors", 100);
  EXPECT_EQ(run({"inspect", checkpoint}), 65);
  EXPECT_THAT(output(), HasSubstr("rank-00001.safetensors has 100 bytes"));
  EXPECT_EQ(run({"export", checkpoint, "--out", path("model")}), 65);
}

TEST_F(WorkerCommand, ExportMakesAFolderThatTrainingCanBeginFrom) {
  ASSERT_EQ(run(local(valid_job(3), "2")), 0) << output();
  const std::vector<std::string> command{
      "export", path("out/checkpoints/step-00000003"), "--out", path("model"), "--data", folder_.path()};
  ASSERT_EQ(run(command), 0) << output();
  EXPECT_EQ(read_file(path("model/vocab.txt")), read_file(path("vocab.txt")));
  const ModelSpec model = read_hugging_face_config(path("model"));
  EXPECT_EQ(model.layers, valid_job(3).model.layers);
  EXPECT_GT(model.vocab, 0);
  EXPECT_EQ(nlohmann::json::parse(read_file(path("model/tokenizer_config.json"))).at("model_max_length"),
            model.max_positions);
  EXPECT_EQ(run(command), 65) << "the folder holds a model already";
  JobSpec next = valid_job(2);
  next.model.init = "model";
  std::filesystem::remove_all(path("out"));
  EXPECT_EQ(run(local(next, "1")), 0) << output();
}

// Masking, short sequences and length are the job's, in the phase of the checkpoint's step.
TEST_F(WorkerCommand, EvaluateGivesTheFiguresThatTheJobToldAtTheCheckpointsStep) {
  JobSpec spec = valid_job(4);
  spec.training.masking = {.probability = 0.3, .max_predictions = 9, .whole_word = true};
  spec.training.short_sequences = 0.5;
  spec.training.sequence_length = 16;
  spec.training.phases = {{.schedule = {.steps = 3, .warmup = 1},
                           .lr = 1e-3,
                           .batch = spec.training.batch,
                           .sequence_length = 32,
                           .max_predictions = 7}};
  spec.checkpoint = {2, 10};
  spec.evaluate.every = 1;
  spec.evaluate.sequences = 20;
  ASSERT_EQ(run(local(spec, "1")), 0) << output();
  std::map<std::string, nlohmann::json> told;
  for_each_line_in(read_file(path("out/rank-0/events.jsonl")), [&](std::string_view line) {
    const auto event = nlohmann::json::parse(line);
    if (event.contains("values") && event["values"].contains("eval/mlm_loss"))
      told[event["step"].dump()] = event["values"];
  });
  const auto measured = [&](const std::string& step, const std::vector<std::string>& more) {
    std::vector<std::string> command{"evaluate", path("out/checkpoints/step-0000000" + step), "--data",
                                     folder_.path(), "--json"};
    command.insert(command.end(), more.begin(), more.end());
    EXPECT_EQ(run(command), 0) << output();
    return nlohmann::json::parse(output());
  };
  const std::vector<std::string> held_out{"--masked", path("heldout.txt")};
  for (const char* const step : {"2", "7"}) {
    const nlohmann::json figures = measured(step, held_out);
    for (const char* const name : {"mlm_loss", "mlm_accuracy", "nsp_accuracy"})
      EXPECT_NEAR(figures.at(name), told.at(step).at(std::string("eval/") + name), 1e-5) << step << name;
  }

  std::string capitals = read_file(path("heldout.txt"));
  std::ranges::transform(capitals, capitals.begin(), [](unsigned char c) { return std::toupper(c); });
  write_file_atomic(path("capitals.txt"), capitals);
  std::vector<std::string> other{"--masked", path("capitals.txt"), "--tokenizer",
                                 "wordpiece:" + path("vocab.txt")};
  const nlohmann::json folded = measured("7", other);
  EXPECT_EQ(folded, measured("7", held_out));
  other.push_back("--cased");
  EXPECT_NE(folded, measured("7", other));
  EXPECT_EQ(run({"evaluate", path("out/checkpoints"), "--data", folder_.path(), "--masked",
                 path("heldout.txt"), "--cased"}),
            64);
  EXPECT_THAT(output(), HasSubstr("--cased is for wordpiece:"));
}

TEST_F(WorkerCommand, LocalEndsWithTheCodeOfTheRankThatFailed) {
  JobSpec spec = valid_job(6);
  spec.data.train = {"missing.txt"};
  EXPECT_EQ(run(local(spec, "2")), 65);
  EXPECT_THAT(output(), HasSubstr("missing.txt"));
}

TEST_F(WorkerCommand, LocalPassesSigtermOnAndSaysThatItLeftBeforeTheEnd) {
  const auto worker = start(local(valid_job(100'000), "2"));
  const std::string events = path("out/rank-0/events.jsonl");
  while (worker->running() &&
         !(std::filesystem::exists(events) && read_file(events).find("metrics") != std::string::npos))
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  worker->signal(SIGTERM);
  EXPECT_EQ(exit_of(*worker), static_cast<int>(WorkerExit::saved)) << output();
  EXPECT_THAT(read_file(events), HasSubstr("preempted"));
}

}  // namespace
}  // namespace podium
