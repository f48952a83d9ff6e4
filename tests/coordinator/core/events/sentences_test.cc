// The sentences that users read, each from a real state, against tests/golden/sentences-*.txt: read them
// aloud when they change. PODIUM_WRITE_GOLDEN=1 writes the files anew.
#include <cstdlib>
#include <set>

#include "common/base/file.h"
#include "coordinator/core/jobs/lifecycle.h"
#include "coordinator/core/plan/wait_reasons.h"
#include "tests/coordinator/core/cluster_fixture.h"
#include "tests/paths.h"

namespace podium {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

class Sentences : public ClusterTest {
 protected:
  // A cluster without anything, under another policy where one is given.
  void begin(PolicyKind policy = PolicyKind::priority_backfill) {
    state_ = {};
    state_.scheduling.policy = policy;
    plan_ = {};
    turn(CoordinatorUp{});
  }

  JobId submit_for(int devices, Duration walltime = hours(1), const std::string& account = "default") {
    JobRequest request = request_for(devices);
    request.walltime = walltime;
    request.account = account;
    request.command = true;
    return submit(request);
  }

  void note(const std::string& what, const std::string& sentence) { lines_.insert(what + ": " + sentence); }

  void note_blockers(JobId id) {
    for (const Blocker& blocker : blockers_of(state_, plan_, id, now_)) {
      note(std::string(to_string(blocker.code)), blocker.sentence);
      codes_.insert(blocker.code);
    }
  }

  void note_refusal(const std::string& what, const Command& command) {
    const auto answer = handle(state_, command, now_);
    ASSERT_FALSE(answer.ok()) << what;
    for (const Error& error : answer.errors())
      note(what, (error.where.empty() ? "" : error.where + ": ") + error.message);
  }

  // Every sentence of the events that a command makes of a job.
  void note_events(const Result<Events>& events) {
    ASSERT_TRUE(events.ok());
    for (const Event& event : *events) note(std::string(type_of(event)), describe(event));
  }

  void compare(const std::string& name) {
    std::string text;
    for (const std::string& line : lines_) text += line + "\n";
    const std::string file = test::source_path("tests/golden/sentences-" + name + ".txt");
    if (std::getenv("PODIUM_WRITE_GOLDEN")) write_file_atomic(file, text);
    EXPECT_EQ(read_file(file), text);
  }

  // Job 1 of two ranks ends as the exits of its ranks say.
  void note_end(const std::string& what, const TaskExit& first, const TaskExit& second) {
    begin();
    const NodeDescription node = node_with("node-1", 2);
    join(node);
    const JobId id = submit_for(2);
    report(node);
    report(node, {{task(id, 0), first}});  // the other rank is told to stop then
    const Result<Events> exits = end_of(node, id, {{task(id, 0), first}, {task(id, 1), second}});
    for (const Event& event : *exits) {
      if (std::holds_alternative<AttemptEnded>(event.body)) note(what, describe(event));
      if (const auto* changed = std::get_if<JobStateChanged>(&event.body);
          changed && changed->from == JobState::stopping)
        note(what, describe(event));
    }
  }

  Result<Events> end_of(const NodeDescription& node, JobId id, const std::vector<Told>& exits) {
    NodeReport report{node, {}, node_orders(state_, node.id).version};
    for (const Told& told : exits) report.tasks.push_back({told.task, TaskState::exited, 1, told.exit});
    EXPECT_TRUE(state_.jobs.contains(id));
    return turn(NodeReported{report});
  }

  std::set<std::string> lines_;
  std::set<BlockerCode> codes_;
};

TEST_F(Sentences, OfWhatKeepsAJobWaiting) {
  begin();
  join(node_with("node-1", 4));
  join(node_with("node-2", 4));
  turn(ChangeAccount{"nlp", {}, {{"cpu", 3}}, {{"cpu", 4}}});
  submit_for(4, hours(2), "nlp");
  note_blockers(submit_for(1, hours(1), "nlp"));  // limit, quota
  const JobId gang = submit_for(8, hours(1));
  note_blockers(gang);                     // devices, running
  note_blockers(submit_for(1, hours(9)));  // reserved, queue
  const JobId held = submit_for(1, hours(9));
  turn(HoldJob{held});
  note_blockers(held);
  JobRequest after = request_for(1);
  after.after = {{gang, When::ok}, {held, When::any}};
  note_blockers(submit(after));
  JobRequest on_nodes = request_for(8, 4);
  note_blockers(submit(on_nodes));
  turn(DrainNode{{"node-2"}, "new fans", {}, {}});
  note_blockers(gang);  // unavailable

  begin();
  join(node_with("node-1", 2));
  join(node_with("node-2", 2));
  turn(DrainNode{{"node-1"}, "new fans", now_ + hours(1), now_ + hours(2)});
  turn(DrainNode{{"node-2"}, "new fans", now_ + hours(1), now_ + hours(2)});
  note_blockers(submit_for(1, hours(3)));  // maintenance
  turn(ResumeNode{{"node-1"}});
  turn(ResumeNode{{"node-2"}});
  turn(ChangeAccount{"nlp", {}, {}, {}});
  turn(ReserveNode{{"node-1"}, "nlp", "", {}, {}});
  turn(ReserveNode{{"node-2"}, "nlp", "", {}, {}});
  note_blockers(submit_for(1));  // reserved_nodes

  begin(PolicyKind::fair_share);
  join(node_with("node-1", 2));
  submit_for(2, hours(9), "nlp");
  now_ += hours(2);
  const JobId behind = submit_for(2, hours(1), "nlp");
  submit_for(2, hours(1), "cv");
  note_blockers(behind);  // share

  begin();
  NodeDescription node = node_with("node-1", 2);
  join(node);
  const JobId large = submit_for(2);
  node.devices.pop_back();
  const JobId next = submit_for(2);
  turn(CancelJob{large});
  end_of(node, large, {{task(large, 0), {}}, {task(large, 1), {}}});
  note_blockers(next);  // too_large

  begin();
  node = node_with("node-1", 1);
  join(node);
  const JobId unlucky = submit_for(1);
  for (int i = 0; i < 4 && state_.jobs.contains(unlucky) && job(unlucky).attempt; ++i) {
    report(node);
    end_of(node, unlucky, {{task(unlucky, 0), {1, 0, ""}}});
    turn(Tick{});
  }
  note_blockers(unlucky);  // back_off

  begin();
  node = node_with("node-1", 2);
  join(node);
  SubmitExperiment sweep{"sweep", {request_for(1), request_for(1), request_for(1)}};
  sweep.asha = Asha{"eval/loss", Goal::min, 100, 800, 2};
  turn(sweep);
  report(node);
  note_events(turn(RungTold{{1}, 1, 100, 3.25}));
  end_of(node, {1}, {{task({1}, 0), {79, 0, "", ExitCause::ordered}}});
  note_blockers({1});  // paused
  note_events(turn(RungTold{{2}, 1, 100, 2.5}));
  note_blockers({1});

  begin();
  join(node_with("node-1", 1));
  join(node_with("node-2", 1));
  const JobId mover = submit_for(1);
  submit_for(1);
  node = node_with(job(mover).attempt->allocation.ranks[0].node.value, 1);
  report(node);
  end_of(node, mover, {{task(mover, 0), {16, 0, ""}}});
  note_blockers(mover);  // avoided

  begin();
  join(node_with("node-1", 1));
  Job fenced = job(submit_for(1));
  fenced.attempt->fenced = true;
  const auto fence = behind_fence(fenced, state_.limits, now_);
  ASSERT_TRUE(fence);
  note(std::string(to_string(fence->code)), fence->sentence);
  codes_.insert(fence->code);

  begin();
  join(node_with("node-1", 1));
  submit_for(1);
  const JobId passed = submit_for(1);
  plan_.blocked.clear();
  note_blockers(passed);                   // planning
  codes_.insert(BlockerCode::allocation);  // tests/coordinator/pilots
  for (int code = 0; code <= static_cast<int>(BlockerCode::planning); ++code)
    EXPECT_TRUE(codes_.contains(static_cast<BlockerCode>(code)))
        << to_string(static_cast<BlockerCode>(code)) << " is in no sentence";
  compare("blockers");
}

TEST_F(Sentences, OfHowAttemptsAndJobsEnd) {
  const TaskExit good{}, gone{0, 15, "", ExitCause::ordered};
  note_end("succeeded", good, good);
  note_end("an exit code", {1, 0, "Traceback: no module named torch"}, gone);
  note_end("never again", {93, 0, ""}, gone);
  note_end("asked to be queued", {75, 0, ""}, gone);
  note_end("asked to move", {16, 0, ""}, gone);
  note_end("a signal", {0, 9, ""}, gone);
  note_end("the agent was stopped", {0, 15, "", ExitCause::agent_stopped}, gone);
  note_end("the lease", {0, 15, "", ExitCause::lease}, gone);
  note_end("the node was restarted", {-1, 0, "", ExitCause::node_restarted}, gone);
  note_end("a missing program",
           {127, 0, "cannot run ./train: No such file or directory", ExitCause::cannot_run}, gone);
  note_end("could not be started", {-1, 0, "no such file: python4", ExitCause::not_started}, gone);

  begin();
  const NodeDescription node = node_with("node-1", 2);
  join(node);
  const JobId id = submit_for(2);
  report(node);
  note_events(turn(CancelJob{id}));
  note_events(end_of(node, id, {{task(id, 0), gone}, {task(id, 1), gone}}));
  const JobId second = submit_for(2, minutes(1));
  report(node);
  for (int i = 0; i < 13; ++i) {
    now_ += std::chrono::seconds(5);
    report(node);
    turn(Tick{});
  }
  note_events(end_of(node, second, {{task(second, 0), gone}, {task(second, 1), gone}}));
  const JobId third = submit_for(2);
  report(node);
  note_events(turn(RequeueJob{third}));
  note_events(end_of(node, third, {{task(third, 0), gone}, {task(third, 1), gone}}));
  compare("ends");
}

TEST_F(Sentences, OfWhatIsRefused) {
  begin();
  join(node_with("node-1", 2));
  turn(ChangeAccount{"nlp", {}, {}, {{"cpu", 1}}});
  const JobId runs = submit_for(1);
  const JobId gone = submit_for(1);
  const auto of = [&](JobRequest request) { return SubmitExperiment{"x", {std::move(request)}}; };
  JobRequest request = request_for(64);
  note_refusal("submit", of(request));
  request = request_for(4, 4);
  note_refusal("submit", of(request));
  request = request_for(1);
  request.nodes = {{"partition", "vision"}};
  note_refusal("submit", of(request));
  request = request_for(2);
  request.account = "nlp";
  note_refusal("submit", of(request));
  request.account = "nobody";
  note_refusal("submit", of(request));
  request.account = "a b";
  note_refusal("submit", of(request));
  request = request_for(1);
  request.after = {{JobId{99}, When::ok}};
  note_refusal("submit", of(request));
  request.after = {};
  request.resume = JobId{99};
  note_refusal("submit", of(request));
  request.resume = runs;
  note_refusal("submit", of(request));
  request = request_for(1);
  state_.scheduling.max_walltime = hours(2);
  request.walltime = hours(3);
  note_refusal("submit", of(request));

  turn(CancelJob{gone});
  end_of(node_with("node-1", 2), gone, {{task(gone, 0), {0, 15, "", ExitCause::ordered}}});
  note_refusal("cancel", CancelJob{gone});
  note_refusal("cancel", CancelJob{JobId{99}});
  note_refusal("priority", PrioritiseJob{runs, 101});
  note_refusal("extend", ExtendJob{runs, minutes(1)});
  note_refusal("extend", ExtendJob{runs, hours(3)});
  turn(CancelJob{runs});
  note_refusal("requeue", RequeueJob{runs});
  note_refusal("drain", DrainNode{{"nobody"}, "", {}, {}});
  note_refusal("drain", DrainNode{{"node-1"}, "", {}, now_ - hours(1)});
  note_refusal("drain", DrainNode{{"node-1"}, "", now_ + hours(2), now_ + hours(1)});
  note_refusal("drain", DrainNode{{"node-1"}, std::string(501, 'x'), {}, {}});
  note_refusal("reserve", ReserveNode{{"node-1"}, "nobody", "", {}, {}});
  note_refusal("label", LabelNode{{"node-1"}, {{"a b", "c"}}});
  note_refusal("adopt", AdoptNode{{"node-1"}, false});
  note_refusal("accounts set", ChangeAccount{"cv/vision", {}, {}, {}});
  note_refusal("accounts set", ChangeAccount{"nlp", {}, {{"tpu", 1}}, {}});
  note_refusal("accounts set", ChangeAccount{"nlp", {}, {{"cpu", 8}}, {}});
  note_refusal("accounts set", ChangeAccount{"nlp", 0, {}, {}});
  note_refusal("accounts delete", DeleteAccount{"nobody"});
  compare("refusals");
}

}  // namespace
}  // namespace podium
