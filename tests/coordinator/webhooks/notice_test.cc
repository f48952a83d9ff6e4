#include "coordinator/webhooks/notices/notice.h"

#include <gtest/gtest.h>

#include <limits>

namespace podium {
namespace {

using nlohmann::json;

constexpr Time kAt{Duration(1'700'000'000'123)};
const JobId kJob{12};

json told(const Event& event) {
  const std::optional<Notice> notice = notice_of(event);
  if (!notice) return nullptr;
  const NoticedJob job{"tiny", {3}, "tinies", "nlp", "gpu", "running", 4, 2, {}};
  return json::parse(payload(*notice, "an-id", "a-cluster", notice->job ? std::optional(job) : std::nullopt));
}

json of_state(JobState from, JobState to, const std::string& reason = "") {
  return told({kAt, JobStateChanged{kJob, from, to, reason}});
}

TEST(Notice, TellsAJobFromItsSubmissionToItsEnd) {
  EXPECT_EQ(
      told({kAt, JobQueued{kJob, {3}, {}}}),
      json::parse(
          R"({"version":1,"id":"an-id","type":"job.submitted","at_ms":1700000000123,"cluster":"a-cluster",
                            "job":{"id":12,"name":"tiny","experiment":3,"experiment_name":"tinies","account":"nlp",
                                   "kind":"gpu","devices":4,"attempt":2,"state":"running"}})"));
  EXPECT_EQ(of_state(JobState::starting, JobState::running)["type"], "job.started");
  for (const JobState end : {JobState::succeeded, JobState::failed, JobState::cancelled, JobState::stopped}) {
    const json ended = of_state(JobState::stopping, end, "rank 3 was killed");
    EXPECT_EQ(ended["type"], "job.ended");
    EXPECT_EQ(ended["reason"], "rank 3 was killed");
  }
}

TEST(Notice, IsNotMadeOfEveryChange) {
  for (const JobState to : {JobState::queued, JobState::starting, JobState::stopping})
    EXPECT_EQ(of_state(JobState::running, to), nullptr);
  EXPECT_EQ(told({kAt, JobHeld{kJob}}), nullptr);
  EXPECT_EQ(told({kAt, Ticked{}}), nullptr);
  EXPECT_EQ(told({kAt, AttemptEnded{{kJob, 1}, AttemptEnd::failed, "why", RestartCause::none}}), nullptr);
}

TEST(Notice, SaysWhyAJobStartsAgain) {
  const json again =
      told({kAt, AttemptEnded{{kJob, 1}, AttemptEnd::node_lost, "node-1 was lost", RestartCause::node_loss}});
  EXPECT_EQ(again["type"], "job.restarted");
  EXPECT_EQ(again["cause"], "node_loss");
  EXPECT_EQ(again["reason"], "node-1 was lost");
  EXPECT_EQ(again["job"]["id"], 12);
}

TEST(Notice, SaysThatAJobWhichHadEndedIsQueuedAgain) {
  for (const JobState end : {JobState::succeeded, JobState::failed, JobState::cancelled, JobState::stopped}) {
    const json again = of_state(end, JobState::queued, "requeued");
    EXPECT_EQ(again["type"], "job.restarted");
    EXPECT_EQ(again["cause"], "requeue");
    EXPECT_EQ(again["reason"], "requeued");
  }
}

TEST(Notice, TellsANodeThatIsLostAndComesBack) {
  const auto change = [](NodeState from, NodeState to) {
    return told({kAt, NodeStateChanged{{"gpu-1"}, from, to, "silent for 1m"}});
  };
  EXPECT_EQ(
      change(NodeState::unknown, NodeState::lost),
      json::parse(R"({"version":1,"id":"an-id","type":"node.lost","at_ms":1700000000123,"cluster":"a-cluster",
                            "node":{"name":"gpu-1","state":"lost"},"reason":"silent for 1m"})"));
  EXPECT_EQ(change(NodeState::lost, NodeState::up)["type"], "node.back");
  EXPECT_EQ(change(NodeState::up, NodeState::unknown), nullptr);
  EXPECT_EQ(change(NodeState::unknown, NodeState::up), nullptr) << "it was not told as lost";
}

TEST(Notice, KeepsTheOrderOfAJobAndOfANode) {
  EXPECT_EQ(notice_of({kAt, JobQueued{kJob, {3}, {}}})->subject, "job 12");
  EXPECT_EQ(notice_of({kAt, AttemptEnded{{kJob, 1}, AttemptEnd::failed, "", RestartCause::failure}})->subject,
            "job 12");
  EXPECT_EQ(target_reached(kJob, kAt, "eval/loss", 1, 5).subject, "job 12");
  EXPECT_EQ(notice_of({kAt, NodeStateChanged{{"12"}, NodeState::up, NodeState::lost, ""}})->subject,
            "node 12");
}

TEST(Notice, TellsATargetWithItsTimeToTrain) {
  NoticedJob job;
  job.time_to_train_seconds = 61.5;
  const json reached =
      json::parse(payload(target_reached(kJob, kAt, "eval/mlm_loss", 4.25, 900), "i", "c", job));
  EXPECT_EQ(reached["type"], "job.target_reached");
  EXPECT_EQ(reached["target"], json::parse(R"({"metric":"eval/mlm_loss","value":4.25,"step":900})"));
  EXPECT_EQ(reached["job"]["time_to_train_seconds"], 61.5);
  const Notice infinite = target_reached(kJob, kAt, "x", std::numeric_limits<double>::infinity(), 1);
  EXPECT_EQ(json::parse(payload(infinite, "i", "c", job))["target"]["value"], "Infinity");
}

TEST(Notice, SurvivesBytesThatAreNoText) {
  const json ended = of_state(JobState::running, JobState::failed, "\xff\"\n");
  EXPECT_EQ(ended["reason"], "\uFFFD\"\n");
}

TEST(Notice, HasANameForEachType) {
  for (const NoticeType type : kEventNotices) EXPECT_EQ(notice_type_from(to_string(type)), type);
  EXPECT_EQ(notice_type_from("test"), NoticeType::test);
  EXPECT_EQ(notice_type_from("job.exploded"), std::nullopt);
  EXPECT_EQ(json::parse(payload(test_notice(kAt), "i", "c", std::nullopt))["type"], "test");
}

}  // namespace
}  // namespace podium
