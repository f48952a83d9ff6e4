// Inputs of tasks of a real agent: told of while they are staged, found by programs, and safe from kill -9.
#include <gmock/gmock.h>

#include "common/net/sha256.h"
#include "tests/agent/agent_fixture.h"
#include "tests/agent/staging/file_server.h"

namespace podium {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class TaskInputs : public AgentFixture {
 protected:
  TaskInputs() {
    fs::create_directories(served());
    write_file_atomic(served() / "x.bin", content_);
    write_file_atomic(data() / "corpus", "words\n");
  }

  fs::path served() const { return folder_.path() / "served"; }
  fs::path store() const { return home() / "inputs"; }

  static TaskOrder with(TaskOrder order, std::vector<InputSpec> inputs) {
    order.launch.spec.inputs = std::move(inputs);
    return order;
  }

  const std::string content_ = std::string(200'000, 'x') + "end\n";
};

TEST_F(TaskInputs, AreThereBeforeTheProgramStarts) {
  const test::FileServer server(served());
  start_agent();
  const TaskId id = task(1);
  const std::string script = "cat {inputs}/corpus; tail -n 1 $PODIUM_INPUTS/deep/x | cut -c200001-";
  coordinator_.order({with(
      run(id, script), {{"corpus", "corpus", ""}, {server.url("/x.bin"), "deep/x", sha256_of(content_)}})});
  EXPECT_EQ(wait_for_exit(id), (TaskExit{0, 0, ""}));
  EXPECT_TRUE(eventually([&] { return coordinator_.stream(id, StreamKind::out) == "words\nend\n"; }));
  EXPECT_THAT(coordinator_.stream(id, StreamKind::events),
              HasSubstr("2 input(s) ready on this node: 2 staged"));
  EXPECT_THAT(coordinator_.report().staging, testing::IsEmpty());
}

TEST_F(TaskInputs, AreToldOfWhileTheyAreStagedAndStagedOnAfterTheAgentIsKilled) {
  const test::FileServer server(served());
  const TaskId id = task(1);
  const std::string hash = sha256_of(content_);
  const fs::path part = store() / "incoming" / ("sha256-" + hash) / "data";
  const auto order = with(run(id, "cmp {inputs}/x " + (served() / "x.bin").string()),
                          {{server.url("/slow/20000/x.bin"), "x", hash}});
  start_agent();
  coordinator_.order({order});
  EXPECT_TRUE(eventually([&] { return coordinator_.report().staging == std::vector{id}; }));
  EXPECT_FALSE(reported(id)) << "it may start elsewhere";
  ASSERT_TRUE(eventually([&] { return fs::exists(part) && fs::file_size(part) > 0; }));
  kill_agent();
  EXPECT_FALSE(fs::exists(store() / "entries" / ("sha256-" + hash)));
  const auto had = fs::file_size(part);
  start_agent();
  EXPECT_EQ(wait_for_exit(id), (TaskExit{0, 0, ""}));
  EXPECT_THAT(server.requests(), HasSubstr("/slow/20000/x.bin bytes=" + std::to_string(had) + "-\n"));
}

TEST_F(TaskInputs, OfATaskThatRunsStayThereThoughItsAgentIsKilled) {
  start_agent({"--inputs-limit", "10B"});
  const std::string script =
      "until test -e " + (data() / "go").string() + "; do sleep 0.01; done; cat {inputs}/c";
  coordinator_.order({with(run(task(1), script), {{"corpus", "c", ""}})});
  wait_for(task(1), TaskState::running);
  kill_agent();
  start_agent({"--inputs-limit", "10B"});
  wait_for(task(1), TaskState::running);
  write_file_atomic(data() / "other", "others\n");
  coordinator_.order(
      {with(run(task(1), script), {{"corpus", "c", ""}}), with(run(task(2), "true"), {{"other", "o", ""}})});
  EXPECT_THAT(wait_for_exit(task(2)).message, HasSubstr("there is no room for its 7 B"));
  write_file_atomic(data() / "go", "");
  EXPECT_EQ(wait_for_exit(task(1)), (TaskExit{0, 0, ""}));
  EXPECT_TRUE(eventually([&] { return coordinator_.stream(task(1), StreamKind::out) == "words\n"; }));
  coordinator_.order({with(run(task(3), "cat {inputs}/o"), {{"other", "o", ""}})});
  EXPECT_EQ(wait_for_exit(task(3)), (TaskExit{0, 0, ""})) << "nobody holds the corpus any more";
}

TEST_F(TaskInputs, ThatCannotBeHadEndTheTaskAndSayWhich) {
  start_agent();
  coordinator_.order({with(run(task(1), "true"), {{"corpus", "c", sha256_of("other words")}}),
                      with(run(task(2), "true"), {{"none", "n", ""}}),
                      with(run(task(3), "true"), {{"corpus", "../c", ""}})});
  const TaskExit other = wait_for_exit(task(1));
  EXPECT_EQ(other.cause, ExitCause::refused);
  EXPECT_THAT(other.message, HasSubstr("the input c (corpus): it has the sha256 " + sha256_of("words\n")));
  const TaskExit none = wait_for_exit(task(2));
  EXPECT_EQ(none.cause, ExitCause::cannot_run);
  EXPECT_THAT(none.message, HasSubstr("there is no " + (data() / "none").string()));
  EXPECT_EQ(wait_for_exit(task(3)).cause, ExitCause::refused);
}

}  // namespace
}  // namespace podium
