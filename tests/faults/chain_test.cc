// Three jobs of one spec on a cluster, each from the weights of the one before it: short sequences, longer
// ones on two nodes, questions. What runs is killed in between.
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <sstream>
#include <thread>

#include "common/base/file.h"
#include "tests/cluster.h"
#include "tests/faults/observed_job.h"
#include "tests/faults/training_job.h"
#include "tests/worker/tasks/squad_files.h"

namespace podium {
namespace {

using nlohmann::json;
using testing::EndsWith;

constexpr char kSpec[] = R"(
version: 1
name: chain
model: {family: bert, layers: 2, hidden: 64, heads: 2, intermediate: 256, max_positions: 32}
data: {train: corpus.txt, tokenizer: {wordpiece: vocab.txt}}
training:
  task: pretrain
  precision: fp32
  optimizer: {name: adamw, lr: 1.0e-3}
  schedule: {steps: 40, warmup: 0.25}
  batch: {global: 16, micro: 8}
  sequence_length: 32
  log_every: 1 step
resources: {devices: 1, kind: cpu, walltime: 10m}
checkpoint: {every: 20 steps, keep: 1, best: eval/mlm_loss}
evaluate: {every: 10 steps, data: heldout.txt, sequences: 32}
jobs:
  - name: phase1
    training: {sequence_length: 16}
  - name: phase2
    after: [{job: phase1}]
    model: {init: {job: phase1}}
    training: {schedule: {steps: 60}}
    resources: {devices: 2, per_node: 1}
  - name: squad
    after: [{job: phase2}]
    model: {init: {job: phase2, checkpoint: newest}}
    data: {train: train.json}
    training: {task: squad, schedule: {steps: 200}, squad: {document_stride: 8, query_length: 8}}
    checkpoint: {best: eval/f1, every: 200 steps}
    evaluate: {data: heldout.json, every: 100 steps}
)";

// The word behind the one that is asked for.
void write_questions(const std::filesystem::path& path, int first, int count) {
  const std::vector<std::string> words{"river", "stone", "light", "water", "house", "field", "bread", "road"};
  std::vector<json> paragraphs;
  for (int i = first; i < first + count; ++i) {
    std::string context;
    for (int j = 0; j < 8; ++j)
      context += (j == 0 ? "" : " ") + words[static_cast<std::size_t>(i * 3 + j * 5) % words.size()];
    const std::size_t begin = context.find(' ') + 1;
    const std::string answer = context.substr(begin, context.find(' ', begin) - begin);
    paragraphs.push_back(squad_paragraph(context, {{std::to_string(i), context.substr(0, begin - 1) + " .",
                                                    answer, static_cast<int>(begin)}}));
  }
  write_file_atomic(path, squad_file(paragraphs));
}

json job_of(const Cluster& cluster, JobId job) { return cluster.get("/jobs/" + to_string(job)); }

// The first step with the least value, and that.
std::pair<int, double> least_of(const std::map<int, double>& values) {
  return *std::ranges::min_element(values, {}, &std::pair<const int, double>::second);
}

// What rank 0 of each attempt told when it began to train; of those that came so far.
std::vector<json> starts_of(const Cluster& cluster, JobId job) {
  std::vector<json> starts;
  for (int attempt = 1; attempt <= static_cast<int>(job_of(cluster, job)["attempts"].size()); ++attempt)
    for (int node = 1; node <= 2; ++node) {
      const auto path = cluster.task_folder(node, {{job, attempt}, 0}) / "events.jsonl";
      std::istringstream lines(std::filesystem::exists(path) ? read_file(path) : "");
      for (std::string line; std::getline(lines, line);)
        if (json event = json::parse(line); event["type"] == "started") starts.push_back(std::move(event));
    }
  return starts;
}

std::vector<pid_t> workers_of(const Cluster& cluster, JobId job) {
  std::vector<pid_t> pids;
  for (int node = 1; node <= 2; ++node)
    for (const pid_t pid : processes_with(cluster.task_folder(node, {{job, 1}, 0}) / "launch.json"))
      if (read_file("/proc/" + std::to_string(pid) + "/comm") == "podium-worker\n") pids.push_back(pid);
  return pids;
}

// Once the job has said what it begins with, another checkpoint becomes the newest where it looked, and it
// dies before it has one of its own.
void change_the_source_and_kill(const Cluster& cluster, JobId job, const std::filesystem::path& other,
                                const std::filesystem::path& newest) {
  const auto unseen = newest.parent_path() / ".saving-copy";
  std::filesystem::copy(other, unseen, std::filesystem::copy_options::recursive);
  for (int i = 0; i < 120'000 && !std::filesystem::exists(cluster.checkpoints(job) / "origin.json"); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::filesystem::rename(unseen, newest);
  for (const pid_t pid : workers_of(cluster, job)) ::kill(pid, SIGKILL);
}

TEST(Chain, EachJobBeginsWithTheWeightsOfTheOneBeforeIt) {
  Cluster cluster(2);
  write_training_data(cluster.data());
  write_questions(cluster.data() / "train.json", 0, 64);
  write_questions(cluster.data() / "heldout.json", 64, 16);
  const JobId first = cluster.submit(kSpec);
  const JobId second{first.value + 1}, third{first.value + 2};
  EXPECT_EQ(job_of(cluster, second)["spec"]["model"]["init"], (json{{"job", first.value}}));
  EXPECT_EQ(job_of(cluster, third)["spec"]["after"], (json{{{"job", second.value}, {"when", "ok"}}}));
  EXPECT_EQ(cluster.get("/studies")["studies"], json::array()) << "jobs that differ by design are no study";

  wait_for_step(cluster, first, 5);
  cluster.coordinator().signal(SIGKILL);
  cluster.coordinator().wait();
  cluster.start_coordinator();
  const json phase1 = cluster.wait_for_state(first, "succeeded");
  wait_for_step(cluster, second, 25);
  ::kill(workers(job_of(cluster, second)).at(1), SIGKILL);
  const json phase2 = cluster.wait_for_state(second, "succeeded");
  EXPECT_GE(phase2["attempts"].size(), 2u);
  EXPECT_LE(phase1["ended_ms"], phase2["started_ms"]);
  change_the_source_and_kill(cluster, third, cluster.checkpoints(second) / "step-00000060",
                             cluster.checkpoints(second) / "step-00000080");
  const json squad = cluster.wait_for_state(third, "succeeded");
  EXPECT_LE(phase2["ended_ms"], squad["started_ms"]);

  const auto [best_step, best_loss] = least_of(recorded(cluster, first, "eval/mlm_loss"));
  EXPECT_EQ(phase1["best_checkpoint"]["step"], best_step);
  EXPECT_EQ(phase1["best_checkpoint"]["best"], (json{{"metric", "eval/mlm_loss"}, {"value", best_loss}}));
  EXPECT_EQ(phase2["origin"]["step"], best_step);
  const std::vector<json> starts = starts_of(cluster, second);
  ASSERT_EQ(starts.size(), 2u);
  EXPECT_GT(starts[1]["step"], 0) << "it went on from a checkpoint of its own";
  EXPECT_EQ(starts[0]["origin"], starts[1]["origin"]);
  EXPECT_EQ(phase2["origin"]["xxh3"], checkpoint_manifest(cluster, first, best_step)["xxh3"]);
  EXPECT_THAT(phase2["origin"]["path"].get<std::string>(),
              EndsWith(phase1["best_checkpoint"]["path"].get<std::string>()));
  const std::vector<json> squad_starts = starts_of(cluster, third);
  ASSERT_GE(squad["attempts"].size(), 2u);
  EXPECT_EQ(squad_starts.back()["step"], 0) << "it had no checkpoint of its own";
  EXPECT_EQ(squad_starts.back()["origin"], squad["origin"]) << "and began with the same weights once more";
  EXPECT_EQ(squad["origin"]["step"], 60);
  EXPECT_EQ(squad["origin"]["xxh3"], checkpoint_manifest(cluster, second, 60)["xxh3"]);
  EXPECT_EQ(squad["best_checkpoint"]["best"]["metric"], "eval/f1");

  // Where the first left off, the second begins, and not anew.
  const auto first_losses = recorded(cluster, first, "train/mlm_loss");
  const auto second_losses = recorded(cluster, second, "train/mlm_loss");
  EXPECT_LT(second_losses.at(1), first_losses.at(1) - 0.2);
}

}  // namespace
}  // namespace podium
