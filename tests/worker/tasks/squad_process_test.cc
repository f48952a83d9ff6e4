// Question answering by real worker processes: it learns, and it resumes to the bit, on several layouts; what
// it leaves is scored by podium-worker score.
#include <gmock/gmock.h>

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>

#include "common/base/file.h"
#include "tests/paths.h"
#include "tests/worker/tasks/squad_jobs.h"

namespace podium {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::StartsWith;

class SquadOn : public testing::TestWithParam<std::string> {};

TEST_P(SquadOn, ItLearnsAndAKilledRunResumesToTheBit) {
  const JobLayout layout = layout_of_name(GetParam());
  JobSpec spec = questions();
  spec.training.unpadded = GetParam() == "data2";
  WorkerJob unbroken(spec);
  write_questions(unbroken);
  ASSERT_THAT(unbroken.run(layout), Each(0)) << unbroken.errors();
  EXPECT_GT(unbroken.metric("eval/f1").at(kSquadSteps), 95);
  EXPECT_GT(unbroken.metric("eval/no_answer_exact_match").at(kSquadSteps), 90);
  EXPECT_GT(unbroken.metric("eval/sequences_per_second").at(kSquadSteps), 0);

  Child scoring({test::program_path("podium-worker"), "score", (unbroken.data() / "held-out.json").string(),
                 (unbroken.checkpoints() / "predictions.json").string(), "--null-odds",
                 (unbroken.checkpoints() / "null_odds.json").string(), "--null-threshold", "1e9", "--json"},
                unbroken.data() / "scores");
  ASSERT_EQ(exit_of(scoring), 0);
  const auto scores = nlohmann::json::parse(read_file(unbroken.data() / "scores"));
  EXPECT_DOUBLE_EQ(scores.at("exact"), unbroken.metric("eval/exact_match").at(kSquadSteps));
  EXPECT_DOUBLE_EQ(scores.at("best_f1"), unbroken.metric("eval/best_f1").at(kSquadSteps));

  WorkerJob broken(spec);
  write_questions(broken);
  broken.start(layout);
  ASSERT_TRUE(broken.wait_for_step(83)) << broken.errors();
  for (int rank = 0; rank < layout.processes; ++rank) broken.rank(rank).signal(SIGKILL);
  broken.wait();
  ASSERT_THAT(broken.run(layout), Each(0)) << broken.errors();
  EXPECT_EQ(broken.tensors(kSquadSteps), unbroken.tensors(kSquadSteps));
  EXPECT_EQ(broken.metric("eval/f1"), unbroken.metric("eval/f1"));
  for (const char* const name : {"predictions.json", "nbest_predictions.json", "null_odds.json"})
    EXPECT_EQ(read_file(broken.checkpoints() / name), read_file(unbroken.checkpoints() / name));
}

INSTANTIATE_TEST_SUITE_P(Layouts, SquadOn, testing::Values("data1", "data2", "tensor2_sequence", "pipeline2"),
                         [](const auto& tested) { return tested.param; });

// The answers of a checkpoint, of the folder made of it, and of a model that began with that folder and
// learnt nothing more.
TEST(SquadModel, ItIsExportedToTheBitAndAnswersTheSame) {
  JobSpec spec = questions();
  spec.training.schedule.steps = 100;
  WorkerJob job(spec);
  write_questions(job);
  ASSERT_THAT(job.run(1), Each(0)) << job.errors();
  const auto run = [&](const std::string& command) {
    std::filesystem::remove(job.data() / "log");
    Child child({"/bin/sh", "-c", "cd " + job.data().string() + " && " + command,
                 test::program_path("podium-worker")},
                job.data() / "log");
    EXPECT_EQ(exit_of(child), 0) << read_file(job.data() / "log");
    return read_file(job.data() / "log");
  };
  const std::string checkpoint = (job.checkpoints() / "step-00000100").string();
  run("\"$0\" export " + checkpoint + " --out model --data .");
  const std::string ask = " --squad held-out.json --out ";
  run("\"$0\" predict " + checkpoint + " --data ." + ask + "of-checkpoint");
  run("\"$0\" predict " + job.checkpoints().string() + " --data ." + ask + "of-newest");
  run("\"$0\" predict model --length 14 --document-stride 4 --query-length 4" + ask + "of-folder");
  for (const char* const name : {"predictions.json", "nbest_predictions.json", "null_odds.json"}) {
    EXPECT_EQ(read_file(job.data() / "of-checkpoint" / name), read_file(job.data() / "of-folder" / name));
    EXPECT_EQ(read_file(job.data() / "of-checkpoint" / name), read_file(job.data() / "of-newest" / name))
        << "the rules of the checkpoint that was taken";
  }
  EXPECT_EQ(read_file(job.data() / "of-folder" / "predictions.json"),
            read_file(job.checkpoints() / "predictions.json"))
      << "what the evaluation found";

  const std::string question =
      " --question 'what is the colour' --context 'the road  is light green here, the ship'";
  EXPECT_THAT(run("\"$0\" predict model" + question + " --query-length 4 --length 14"),
              HasSubstr("light green\t0."));
  write_file_atomic(job.data() / "lines.jsonl",
                    R"({"id": 7, "question": "what is the colour", "context": "a ship was blue here"})"
                    "\n \n\n"
                    R"({"question": "what is the colour", "context": ""})"
                    "\n");
  const std::string lines = run(
      "\"$0\" predict model --length 14 --query-length 4 --jsonl lines.jsonl --json --best 2 2>/dev/null");
  const auto first = nlohmann::json::parse(lines.substr(0, lines.find('\n')));
  EXPECT_EQ(first.at("id"), 7);
  EXPECT_EQ(first.at("answer"), "blue");
  EXPECT_EQ(first.at("best").size(), 2U);
  EXPECT_EQ(std::ranges::count(lines, '\n'), 2) << "blank lines are no questions";

  const std::string predict = "\"$0\" predict model --length 14 --query-length 4 ";
  write_file_atomic(
      job.data() / "tabs.jsonl",
      R"({"id": "a\tb", "question": "what is the colour", "context": "a ship was light\tgreen here"})");
  EXPECT_THAT(run(predict + "--jsonl tabs.jsonl 2>/dev/null"), StartsWith("a b\tlight green\t"));
  const auto code_of = [&](const std::string& command) { return run(command + "; echo \" rc=$?\""); };
  EXPECT_EQ(run(predict + "--jsonl lines.jsonl --json --best 2 --n-best 1000000000 2>/dev/null"),
            run(predict + "--jsonl lines.jsonl --json --best 2 --n-best 196 2>/dev/null"))
      << "no sequence has more spans";
  EXPECT_THAT(code_of(predict + "--squad held-out.json --out lines.jsonl/answers"), HasSubstr(" rc=73"));
  EXPECT_THAT(code_of(predict + question + " > /dev/full"),
              AllOf(HasSubstr("cannot write standard output: No space left"), HasSubstr(" rc=1")));

  spec.model.init = "model";
  spec.training.schedule = {.steps = 1, .warmup = 0};
  spec.training.optimizer.lr = 1e-30;
  spec.training.optimizer.weight_decay = 0;
  spec.evaluate.every = 1;
  WorkerJob again(spec);
  write_questions(again);
  std::filesystem::copy(job.data() / "model", again.data() / "model");
  ASSERT_THAT(again.run(1), Each(0)) << again.errors();
  EXPECT_EQ(read_file(again.checkpoints() / "nbest_predictions.json"),
            read_file(job.checkpoints() / "nbest_predictions.json"));
}

// Of one step, with the worker's "$0" in the folder of its data.
class SquadLines : public testing::Test {
 protected:
  SquadLines() : job_(one_step()) {
    write_questions(job_);
    EXPECT_THAT(job_.run(1), Each(0)) << job_.errors();
  }

  static JobSpec one_step() {
    JobSpec spec = questions();
    spec.training.schedule = {.steps = 1, .warmup = 0};
    return spec;
  }
  void write(const std::string& name, const std::string& text) const {
    write_file_atomic(job_.data() / name, text);
  }
  // Its exit code; what it prints and says is in out and log.
  int predict(const std::string& arguments) const {
    Child child({"/bin/sh", "-c",
                 "cd " + job_.data().string() + " && \"$0\" predict " + job_.checkpoints().string() +
                     " --data . " + arguments + " > out 2> log",
                 test::program_path("podium-worker")},
                job_.data() / "shell");
    return exit_of(child);
  }
  std::string printed() const { return read_file(job_.data() / "out"); }
  std::string said() const { return read_file(job_.data() / "log"); }

  WorkerJob job_;
};

TEST_F(SquadLines, AContextWithoutATokenHasNoAnswer) {
  write("lines.jsonl", R"({"id": "a", "question": "what is the colour", "context": "\u0001\u0002"})");
  ASSERT_EQ(predict("--jsonl lines.jsonl"), 0) << said();
  EXPECT_EQ(printed(), "a\t(no answer)\t0.0000\n");
  ASSERT_EQ(predict("--jsonl lines.jsonl --json --best 2"), 0) << said();
  EXPECT_EQ(printed(), R"({"id":"a","answer":null,"probability":0,"best":[]})"
                       "\n");
  ASSERT_EQ(predict("--jsonl lines.jsonl --may-be-none"), 0) << said();
  EXPECT_EQ(printed(), "a\t(none)\t1.0000\n") << "which the model may say";
  write("asked.json",
        squad_file({squad_paragraph("\x01", {{"q0", "what", "\x01", 0}}),
                    squad_paragraph("a ship was blue", {{"q1", "what is the colour", "blue", 11}})}));
  ASSERT_EQ(predict("--squad asked.json --out answers"), 0) << said();
  EXPECT_THAT(said(), HasSubstr("1 questions have no answer: "));
  EXPECT_EQ(nlohmann::json::parse(read_file(job_.data() / "answers/predictions.json")).at("q0"), "empty");
}

TEST_F(SquadLines, AreRefusedWhereThereAreNone) {
  write("empty.jsonl", "\n \n");
  EXPECT_EQ(predict("--jsonl empty.jsonl"), 65);
  EXPECT_THAT(said(), HasSubstr("empty.jsonl has no line to predict"));
  EXPECT_EQ(predict("--jsonl - < /dev/null"), 65);
  EXPECT_THAT(said(), HasSubstr("standard input has no line to predict"));
}

TEST_F(SquadLines, AreRefusedWithKeysThatAreNotUsed) {
  write("lines.jsonl", R"({"question": "what", "context": "a ship", "best": 3})");
  EXPECT_EQ(predict("--jsonl lines.jsonl"), 65);
  EXPECT_THAT(said(), HasSubstr("lines.jsonl:1: \"best\" is no key here; beside an \"id\" there may be "
                                "\"question\", \"context\""));
}

TEST(SquadModel, ItHasNoHeadForMeasuresOfLanguage) {
  JobSpec spec = questions();
  spec.training.schedule.steps = 6;
  WorkerJob job(spec);
  write_questions(job);
  ASSERT_THAT(job.run(1), Each(0)) << job.errors();
  Child measuring(
      {test::program_path("podium-worker"), "evaluate", (job.checkpoints() / "step-00000006").string(),
       "--data", job.data().string(), "--masked", "colours.txt"},
      job.data() / "log");
  EXPECT_EQ(exit_of(measuring), static_cast<int>(WorkerExit::bad_data));
  EXPECT_THAT(read_file(job.data() / "log"), HasSubstr("was trained for squad"));
}

TEST(SquadTarget, ARunStopsOnceItsAnswersAreGoodEnough) {
  JobSpec spec = questions();
  spec.target = TargetSpec{"eval/f1", 90.0, std::nullopt};
  WorkerJob job(spec);
  write_questions(job);
  ASSERT_THAT(job.run(1), Each(0)) << job.errors();
  EXPECT_LT(job.metric("eval/f1").rbegin()->first, kSquadSteps);
  EXPECT_GE(job.metric("eval/f1").rbegin()->second, 90);
}

TEST(SquadRefuses, MalformedDataByTheirPlace) {
  WorkerJob job(questions());
  write_questions(job);
  write_file_atomic(job.data() / "held-out.json", R"({"data": [{"paragraphs": [{"context": 1}]}]})");
  EXPECT_THAT(job.run(1), Each(static_cast<int>(WorkerExit::bad_data)));
  EXPECT_THAT(job.errors(), HasSubstr("held-out.json: data[0].paragraphs[0].context is no text"));
}

}  // namespace
}  // namespace podium
