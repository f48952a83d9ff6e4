// The second state is the first, however late it is asked for, and from any thread.
#include "coordinator/loop/state_mirror.h"

#include <thread>

#include "tests/coordinator/core/cluster_fixture.h"

namespace podium {
namespace {

class StateMirrors : public ClusterTest {
 protected:
  // As a turn of the loop.
  void take(const Command& command) {
    Events events = *handle(state_, command, now_);
    apply_all(state_, events);
    plan_ = make_plan(state_, now_);
    const Events enacted = enact(state_, plan_, now_);
    apply_all(state_, enacted);
    events.insert(events.end(), enacted.begin(), enacted.end());
    mirror_.follow(events);
  }
  static ClusterState copy(const StateMirror::View& view) {
    return view.look([](const ClusterState& state) { return state; });
  }
  void submit_one() { take(SubmitExperiment{"test", {request_for(1)}}); }

  StateMirror mirror_{state_};
};

TEST_F(StateMirrors, FollowTheTurns) {
  take(NodeReported{{node_with("a", 2), {}, 0}});
  const auto early = mirror_.view();
  for (int i = 0; i < 5; ++i) submit_one();
  EXPECT_EQ(copy(early), state_) << "as of when it is looked at";
  submit_one();
  ClusterState elsewhere;
  std::thread([&, late = mirror_.view()] { elsewhere = copy(late); }).join();
  EXPECT_EQ(elsewhere, state_);
}

TEST_F(StateMirrors, BeginAnewWhereNobodyAskedForLong) {
  take(NodeReported{{node_with("a", 2), {}, 0}});
  EXPECT_EQ(copy(mirror_.view()), state_);
  submit_one();
  for (int i = 0; i < 100'001; ++i) mirror_.follow({{now_, Ticked{}}});
  submit_one();
  EXPECT_EQ(copy(mirror_.view()), state_);
}

}  // namespace
}  // namespace podium
