// podium-worker local: what is trained of a spec and what the command line puts in its place; what is told at
// the end.
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <nlohmann/json.hpp>

#include "common/base/file.h"
#include "tests/child.h"
#include "tests/faults/training_job.h"
#include "tests/paths.h"
#include "tests/temp_folder.h"

namespace podium {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class LocalCommand : public testing::Test {
 protected:
  LocalCommand() {
    write_training_data(folder_.path());
    write_file_atomic(path("job.yaml"), training_spec("small", 12));
  }

  std::string path(const std::string& name) const { return folder_.path() / name; }
  std::string output() const { return read_file(path("log")); }

  // `shell` runs in the folder of the data, with podium-worker as $0.
  int run(const std::string& shell) {
    std::filesystem::remove(path("log"));
    Child child({"/bin/sh", "-c", "cd " + folder_.path().string() + " && " + shell,
                 test::program_path("podium-worker")},
                path("log"));
    const int status = child.wait();
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  json summary(const std::string& arguments) {
    EXPECT_EQ(run("\"$0\" local --threads 1 --json " + arguments + " > summary.json"), 0) << output();
    return json::parse(read_file(path("summary.json")));
  }

  TempFolder folder_;
};

TEST_F(LocalCommand, TrainsTheYamlAsItStands) {
  const json told = summary("job.yaml");
  EXPECT_EQ(told["name"], "small");
  EXPECT_EQ(told["status"], "succeeded");
  EXPECT_EQ(told["step"], 12);
  EXPECT_EQ(told["steps"], 12);
  EXPECT_EQ(told["layout"], (json{{"tensor", 1}, {"pipeline", 1}, {"data", 2}}));
  EXPECT_GT(told["metrics"]["train/loss"], 0);
  EXPECT_GT(told["metrics"]["eval/mlm_loss"], 0);
  EXPECT_TRUE(std::filesystem::exists(told["checkpoint"].get<std::string>() + "/manifest.json"));
}

TEST_F(LocalCommand, ACheckpointIsEvaluatedAsItsJobWas) {
  const json told = summary("job.yaml");
  ASSERT_EQ(run("\"$0\" evaluate " + told["checkpoint"].get<std::string>() +
                " --masked heldout.txt --length 32 --sequences 64 --json > measures.json"),
            0)
      << output();
  EXPECT_EQ(run("PODIUM_EVENTS=events.jsonl \"$0\" evaluate podium-run/checkpoints --masked heldout.txt "
                "--length 32 "
                "--sequences 64 > measures.txt"),
            0)
      << output();
  const json event = json::parse(read_file(path("events.jsonl")));
  EXPECT_EQ(event["type"], "metrics");
  EXPECT_EQ(event["step"], 12);
  const json measures = json::parse(read_file(path("measures.json")));
  EXPECT_EQ(event["values"]["eval/mlm_loss"], measures["mlm_loss"]);
  for (const char* name : {"mlm_loss", "mlm_accuracy", "nsp_accuracy"})
    EXPECT_NEAR(measures[name].get<double>(), told["metrics"][std::string("eval/") + name].get<double>(),
                1e-5)
        << name;
  EXPECT_EQ(run("\"$0\" evaluate " + told["checkpoint"].get<std::string>() + " --wikitext heldout.txt"), 64);
  EXPECT_THAT(output(), HasSubstr("--wikitext is for models that predict the next token"));
  EXPECT_EQ(run("\"$0\" evaluate none --masked heldout.txt"), 65);
  EXPECT_THAT(output(), HasSubstr("none is no model"));
}

TEST_F(LocalCommand, OverridesAndGoesOnFromItsCheckpoint) {
  EXPECT_EQ(
      summary(
          "job.yaml --devices 1 --set checkpoint.every=5 --set training.precision=bf16")["layout"]["data"],
      1);
  const json again = summary("job.yaml --devices 1 --set checkpoint.every=5 --set training.precision=bf16");
  EXPECT_EQ(again["first_step"], 12);
  EXPECT_EQ(again["step"], 12);
  EXPECT_FALSE(again["metrics"].contains("train/loss")) << "of the run before";
}

TEST_F(LocalCommand, TakesTheJobOfAStudyThatIsNamedOrHasTheDevices) {
  write_file_atomic(path("study.yaml"), training_spec("study", 11) + "scaling: {devices: [1, 2]}\n");
  EXPECT_EQ(summary("study.yaml --out first")["name"], "study-devices=1");
  EXPECT_THAT(output(), HasSubstr("study.yaml is a study of 2 jobs; this is study-devices=1"));
  EXPECT_EQ(summary("study.yaml --devices 2 --out second")["name"], "study-devices=2");
  EXPECT_EQ(summary("study.yaml --job study-devices=1 --out third")["processes"], 1);
  EXPECT_EQ(run("\"$0\" local study.yaml --devices 3"), 64);
  EXPECT_THAT(output(), HasSubstr("study.yaml has no job of 3 devices; it has\n  study-devices=1"));
}

TEST_F(LocalCommand, TellsEveryMistakeOfSpecAndCommandLine) {
  EXPECT_EQ(run("\"$0\" local job.yaml --set training.batch.global=33 --set training.stepz=3"), 64);
  EXPECT_THAT(output(),
              HasSubstr("job.yaml, overridden: training.batch.global (33) must be a multiple of 32"));
  EXPECT_THAT(output(),
              HasSubstr("cannot set \"training.stepz\"; did you mean \"training.schedule.steps\"?"));
  EXPECT_EQ(run("\"$0\" local job.yaml --set steps"), 64);
  EXPECT_THAT(output(), HasSubstr("KEY=VALUE"));
  EXPECT_EQ(run("\"$0\" local none.yaml"), 64);
  EXPECT_THAT(output(), HasSubstr("none.yaml"));
  EXPECT_EQ(run("echo 'version: 2' > bad.yaml; \"$0\" local bad.yaml"), 64);
  EXPECT_THAT(output(), HasSubstr("bad.yaml:1:10: version cannot be 2"));
}

TEST_F(LocalCommand, TheLastLineSaysWhyItFailed) {
  EXPECT_EQ(run("echo > corpus.txt; \"$0\" local job.yaml --devices 1 > told.txt"), 65);
  const std::string said = output();
  const std::size_t begin = said.rfind('\n', said.size() - 2) + 1;
  EXPECT_THAT(said.substr(begin), AllOf(HasSubstr("error"), HasSubstr("corpus.txt")));
}

TEST_F(LocalCommand, AStopWhileItReadsHasSavedNothing) {
  // Text that takes seconds to read.
  EXPECT_EQ(run(R"(yes 'river stone .' | head -c 150M > corpus.txt
"$0" local job.yaml --devices 1 > told.txt &
until grep -qs loading podium-run/rank-0/events.jsonl; do sleep 0.1; done
kill $!
wait $!)"),
            79)
      << output();
  EXPECT_THAT(read_file(path("told.txt")),
              StartsWith("small: stopped before the first step; nothing saved\n"));
}

TEST_F(LocalCommand, RefusesWhatItCannotStart) {
  write_file_atomic(path("command.yaml"),
                    "version: 1\nname: c\ncommand: [\"true\"]\nresources: {devices: 1, kind: cpu}\n");
  EXPECT_EQ(run("\"$0\" local command.yaml"), 64);
  EXPECT_THAT(output(), HasSubstr("command.yaml runs a command"));
  EXPECT_EQ(run("\"$0\" local job.yaml --set resources.devices=32 --set training.batch.micro=1"), 64);
  EXPECT_THAT(output(), HasSubstr("job.yaml asks for 32 devices; say with --devices"));
}

}  // namespace
}  // namespace podium
