// docs/your-own-program.md on real daemons: its spec and its program run as they stand there.
#include <gmock/gmock.h>

#include <chrono>
#include <cstdlib>
#include <set>
#include <thread>

#include "common/base/file.h"
#include "tests/cluster.h"
#include "tests/paths.h"

namespace podium {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// The first block of the page in that language.
std::string block_of_the_page(const std::string& language) {
  const std::string page = read_file(test::source_path("docs/your-own-program.md"));
  const std::string fence = "```" + language + "\n";
  const std::size_t begin = page.find(fence) + fence.size();
  return page.substr(begin, page.find("```", begin) - begin);
}

void replace(std::string& text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  ASSERT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
}

class Program : public testing::Test {
 protected:
  // Of whichever node ran it.
  std::string output(JobId job, int attempt) const {
    for (const int node : {1, 2})
      if (const auto path = cluster_.task_folder(node, {{job, attempt}, 0}) / "stdout";
          std::filesystem::exists(path))
        return read_file(path);
    return "none";
  }

  std::string project() const { return cluster_.folder() / "project"; }

  void write_program(const std::string& text) const {
    std::filesystem::create_directories(project());
    write_file_atomic(project() + "/train.py", text);
  }

  std::string spec_of_the_page() const {
    std::string spec = block_of_the_page("yaml");
    replace(spec, "/home/me/project", project());
    return spec;
  }

  std::string output(JobId job, int attempt, int rank, int node) const {
    return read_file(cluster_.task_folder(node, {{job, attempt}, rank}) / "stdout");
  }

  // With the command line, as a user does; its first job.
  JobId submit_file(const std::string& path) const {
    const std::string log = cluster_.folder() / "submit.log";
    std::filesystem::remove(log);
    Child podium({test::program_path("podium"), "--coordinator", cluster_.server().origin(), "--token-file",
                  cluster_.folder() / "user.token", "--json", "submit", path},
                 log);
    EXPECT_EQ(podium.wait(), 0) << read_file(log);
    const std::string said = read_file(log);
    return {json::parse(said.substr(said.find('{'))).at("jobs")[0].at("id").get<std::int64_t>()};
  }

  std::string history(JobId job) const {
    const json events = cluster_.get("/jobs/" + to_string(job) + "/events");
    std::string all;
    for (const json& event : events.at("events")) all += event.at("text").get<std::string>() + "\n";
    return all;
  }

  Cluster cluster_{2, 2};
};

TEST_F(Program, OfThePageRunsAsItStandsThereAndItsMetricsAndTargetAreKept) {
  write_program(block_of_the_page("python"));
  const JobId job = cluster_.submit(spec_of_the_page());
  const json ended = cluster_.wait_for_state(job, "succeeded");
  EXPECT_EQ(ended.at("progress").at("steps"), 20);
  const std::string at = "/jobs/" + to_string(job);
  std::set<std::string> keys;
  const json metrics = cluster_.get(at + "/metrics");
  for (const json& metric : metrics.at("metrics")) keys.insert(metric.at("key"));
  EXPECT_EQ(keys, (std::set<std::string>{"eval/loss", "train/loss", "train/lr"}));
  EXPECT_EQ(ended.at("latest").at("train/lr"), 0.001);
  EXPECT_TRUE(std::filesystem::exists(cluster_.checkpoints(job) / "state.json"));
  EXPECT_THAT(history(job), testing::Not(HasSubstr("left out")));
}

TEST_F(Program, OfThePageIsSweptByItsParameters) {
  write_program(block_of_the_page("python"));
  const JobId first = cluster_.submit(spec_of_the_page() + "sweep: {parameters.lr: [0.5, 0.25]}\n");
  EXPECT_EQ(cluster_.wait_for_state(first, "succeeded").at("latest").at("train/lr"), 0.5);
  const json second = cluster_.wait_for_state(JobId{first.value + 1}, "succeeded");
  EXPECT_EQ(second.at("latest").at("train/lr"), 0.25);
  EXPECT_EQ(second.at("name"), "my-program-lr=0.25");
}

TEST_F(Program, ThatDrivesANodeIsStartedOnceOnEachWithAllItsDevices) {
  const JobId job = cluster_.submit(
      "version: 1\nname: wide\nprocesses: node\n"
      "command: [sh, -c, 'echo {rank} of {world_size}, $PET_NPROC_PER_NODE of $PET_NNODES, {node_devices}']\n"
      "resources: {devices: 4, per_node: 2, kind: cpu, walltime: 10m}\n");
  const json ended = cluster_.wait_for_state(job, "succeeded");
  ASSERT_EQ(ended.at("attempts")[0].at("tasks").size(), 2u);
  EXPECT_EQ(ended.at("attempts")[0].at("tasks")[1].at("devices"), (json{0, 1}));
  EXPECT_EQ(ended.at("command"), true);
  EXPECT_EQ(output(job, 1, 0, 1), "0 of 2, 2 of 2, 2\n");
  EXPECT_EQ(output(job, 1, 1, 2), "1 of 2, 2 of 2, 2\n");
}

TEST_F(Program, RunsInACopyOfItsFolderAsItWasWhenItWasSubmitted) {
  write_program("import os\nprint('first', os.getcwd() == os.environ['PODIUM_CODE'] + '/src')\n");
  const std::string spec =
      "version: 1\nname: code\ncommand: [sh, -c, 'until test -e {data}/go; do sleep 0.05; done; python3 "
      "../train.py; test {attempt} = 2']\ncode: {folder: .}\nworkdir: src\n"
      "resources: {devices: 1, kind: cpu, walltime: 10m}\n";
  std::filesystem::create_directories(project() + "/src");
  write_file_atomic(project() + "/src/empty", "");
  write_file_atomic(project() + "/job.yaml", spec);
  const JobId job = submit_file(project() + "/job.yaml");
  write_program("print('changed since')\n");
  write_file_atomic(cluster_.data() / "go", "");
  const json ended = cluster_.wait_for_state(job, "succeeded");
  ASSERT_EQ(ended.at("attempts").size(), 2u) << "the first fails";
  EXPECT_EQ(output(job, 1) + output(job, 2), "first True\nfirst True\n");
}

// A repository whose folder "job" has a program in two versions: as the tag "first" has it and as the newest
// commit does.
class ProgramOfARepository : public ::testing::Test {
 protected:
  ProgramOfARepository() {
    git({"init", "-q", "-b", "main"});
    std::filesystem::create_directories(folder() / "src");
    for (const std::string version : {"first", "second"}) {
      write_say(version);
      git({"add", "job"});
      git({"commit", "-q", "-m", version});
      git({"tag", version});
    }
    write_say("not committed");
  }

  void git(std::vector<std::string> words) {
    words.insert(words.begin(), {"/usr/bin/env", "git", "-C", repository_.path(), "-c", "user.name=n", "-c",
                                 "user.email=e"});
    std::filesystem::remove(repository_.path() / "log");
    Child child(words, repository_.path() / "log");
    ASSERT_EQ(child.wait(), 0) << read_file(repository_.path() / "log");
  }

  void write_say(const std::string& text) {
    write_file_atomic(folder() / "src" / "say.sh", "#!/bin/sh\necho " + text + "\n", 0755);
  }
  void write_spec(const std::string& code) {
    write_file_atomic(folder() / "spec.yaml", "version: 1\nname: of-git\ncommand: [./say.sh]\ncode: " + code +
                                                  "\nresources: {devices: 1, kind: cpu, walltime: 10m}\n");
  }
  std::string commit_of(const std::string& revision) {
    git({"rev-parse", revision + "^{commit}"});
    return read_file(repository_.path() / "log").substr(0, 40);
  }

  std::filesystem::path folder() const { return repository_.path() / "job"; }
  TempFolder repository_;
};

std::string said(const Cluster& cluster, JobId job) {
  return read_file(cluster.task_folder(1, {{job, 1}, 0}) / "stdout");
}

void wait_for_jobs(const Cluster& cluster, int count) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (cluster.get("/jobs").at("total") < count && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

// What a commit has beside the spec, whatever the branch has by then; or the commit that the spec names.
TEST_F(ProgramOfARepository, RunsInItsFolderAsACommitHasItWhereTheSpecIsWatched) {
  write_spec("{folder: src}");
  git({"add", "job/spec.yaml"});
  git({"commit", "-q", "-m", "spec"});
  const Cluster cluster(
      1, 1, {"--specs", repository_.path().string() + ",existing=submit", "--specs-every", "100ms"});
  wait_for_jobs(cluster, 1);
  cluster.wait_for_state({1}, "succeeded");
  EXPECT_EQ(said(cluster, {1}), "second\n");
  write_spec("{git: first, folder: src}");
  git({"add", "job/spec.yaml"});
  git({"commit", "-q", "-m", "spec of a tag"});
  wait_for_jobs(cluster, 2);
  const json job = cluster.wait_for_state({2}, "succeeded");
  EXPECT_EQ(said(cluster, {2}), "first\n");
  EXPECT_EQ(job.at("spec").at("code").at("commit"), commit_of("first"));
}

TEST_F(ProgramOfARepository, RunsInItsFolderAsATagHasItWhereTheSpecIsSubmitted) {
  write_spec("{git: first, folder: src}");
  const Cluster cluster(1, 1);
  const auto podium = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {test::program_path("podium"), "--coordinator", cluster.server().origin(),
                                 "--token-file", cluster.folder() / "user.token"});
    const auto log = cluster.folder() / "podium.log";
    std::filesystem::remove(log);
    Child child(words, log);
    EXPECT_EQ(child.wait(), 0) << read_file(log);
    return read_file(log);
  };
  podium({"submit", folder() / "spec.yaml"});
  cluster.wait_for_state({1}, "succeeded");
  EXPECT_EQ(said(cluster, {1}), "first\n");
  EXPECT_THAT(podium({"show", "1"}),
              HasSubstr("folder src as commit " + commit_of("first") + " has it (first)"));
}

bool has_torchrun() { return std::system("torchrun --help > /dev/null 2>&1") == 0; }

TEST_F(Program, OfTorchInConfigsRunsAsItStandsOnTwoNodes) {
  if (!has_torchrun()) GTEST_SKIP() << "skipped: needs torchrun (deploy/install-packages --tests)";
  const JobId job = submit_file(test::source_path("configs/torchrun.yaml"));
  const json ended = cluster_.wait_for_state(job, "succeeded");
  EXPECT_EQ(ended.at("attempts").size(), 1u);
  EXPECT_LT(ended.at("latest").at("train/loss").get<double>(), 0.1);
  EXPECT_THAT(output(job, 1, 0, 1) + output(job, 1, 1, 2),
              testing::AllOf(HasSubstr("rank 0 of 2"), HasSubstr("rank 1 of 2")));
}

TEST_F(Program, OfTorchIsStartedOncePerDeviceWithoutTorchrunToo) {
  const JobId job = cluster_.submit(
      "version: 1\nname: ranks\n"
      "command: [sh, -c, 'echo $RANK/$WORLD_SIZE $LOCAL_RANK/$LOCAL_WORLD_SIZE $GROUP_RANK "
      "${PET_NNODES-none}']\n"
      "resources: {devices: 4, per_node: 2, kind: cpu, walltime: 10m}\n");
  cluster_.wait_for_state(job, "succeeded");
  EXPECT_EQ(output(job, 1, 3, 2), "3/4 1/2 1 none\n");
}

// What the loader reads would end podium-shim before it tells of anything, and so make the node look sick.
TEST_F(Program, HasVariablesOfTheLoaderThatTheShimHasNot) {
  const JobId job = cluster_.submit(
      "version: 1\nname: traced\ncommand: [/bin/true]\nenv: {LD_TRACE_LOADED_OBJECTS: \"1\", LD_PRELOAD: /none.so}\n"
      "resources: {devices: 1, kind: cpu, walltime: 10m}\n");
  const json ended = cluster_.wait_for_state(job, "succeeded");
  EXPECT_EQ(ended.at("attempts").size(), 1u);
  EXPECT_THAT(output(job, 1), HasSubstr("libc.so"));
}

TEST_F(Program, IsToldWhatIsWrongWithALineOfItsEvents) {
  const JobId job = cluster_.submit(
      "version: 1\nname: wrong\ncommand: [sh, -c, 'echo \"$PODIUM_PARAM_LINE\" >> $PODIUM_EVENTS']\n"
      "parameters: {line: '{\"type\":\"metrics\",\"time_ms\":1,\"step\":1,\"values\":{}}'}\n"
      "resources: {devices: 1, kind: cpu, walltime: 10m}\n");
  cluster_.wait_for_state(job, "succeeded");
  EXPECT_THAT(history(job), HasSubstr("a malformed line (key 't' not found) at byte 0, left out"));
}

}  // namespace
}  // namespace podium
