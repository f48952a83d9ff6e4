// Elastic jobs among others on a cluster without faults: SimCluster holds every change of size to the rules;
// here, besides, those who were given room use it, and everything really happens. A failure names its seed.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/sim/sim_cluster.h"

namespace podium::sim {
namespace {

using std::chrono::seconds;

constexpr std::uint64_t kHistories = 300;

std::vector<NodeDescription> random_nodes(Random& random) {
  std::vector<NodeDescription> nodes;
  const int count = random.between(1, 3);
  for (int n = 1; n <= count; ++n) {
    NodeDescription node;
    node.id.value = "node-" + std::to_string(n);
    node.address = "10.0.0." + std::to_string(n);
    node.boot = "boot-1";
    if (random.chance(50)) node.labels["switch"] = "leaf-" + std::to_string(random.between(1, 2));
    const int devices = random.between(2, 6);
    for (int d = 0; d < devices; ++d) {
      Device device;
      device.index = d;
      device.kind = "cpu";
      node.devices.push_back(device);
    }
    nodes.push_back(node);
  }
  return nodes;
}

JobRequest random_request(Random& random) {
  JobRequest request;
  request.name = "job";
  request.kind = "cpu";
  request.devices = random.between(1, 3);
  request.per_node = random.chance(20) ? 1 : 0;
  request.priority = random.between(1, 2) * 25;
  if (random.chance(15)) request.within = Within::node;
  if (!random.chance(60)) return request;
  const int sizes = random.between(2, 4);
  for (int i = 1; i <= sizes; ++i) request.sizes.push_back(i * request.devices);
  request.saves = random.chance(30);
  return request;
}

// Who shrinks for whom, and whether what they gave up was used.
class Watch {
 public:
  explicit Watch(const SimCluster& cluster) : cluster_(cluster) {}

  // Looks at what the log holds since the last look; "" when all is well.
  std::string look() {
    for (; next_ < cluster_.log().size(); ++next_) follow(cluster_.log()[next_]);
    for (const auto& [job, leaving] : room_for_)
      if (leaving.empty() && waits(job))
        return "room was made for job " + to_string(job) + ", and it did not start";
    std::erase_if(room_for_, [this](const auto& entry) { return !waits(entry.first); });
    return "";
  }

  int grown() const { return grown_; }
  int shrunk() const { return shrunk_; }

 private:
  void follow(const Event& event) {
    if (const auto* planned = std::get_if<ResizePlanned>(&event.body)) {
      ++(planned->resize.grows() ? grown_ : shrunk_);
      if (!planned->resize.room_for) return;
      std::set<JobId>& leaving = room_for_[*planned->resize.room_for];
      leaving = cluster_.state().indexes.leaving;  // it counts on what others are giving up already
      leaving.insert(planned->attempt.job);
    } else if (const auto* ended = std::get_if<AttemptEnded>(&event.body)) {
      for (auto& [job, leaving] : room_for_) leaving.erase(ended->attempt.job);
    } else if (std::holds_alternative<JobQueued>(event.body) ||
               std::holds_alternative<JobPrioritised>(event.body)) {
      room_for_.clear();  // another may go first now
    }
  }
  bool waits(JobId id) const {
    const Job* job = find_job(cluster_.state(), id);
    return job && job->state == JobState::queued;
  }

  const SimCluster& cluster_;
  std::size_t next_ = 0;
  std::map<JobId, std::set<JobId>> room_for_;
  int grown_ = 0, shrunk_ = 0;
};

void act(SimCluster& cluster, Random& random) {
  const JobId job{random.between(1, static_cast<int>(cluster.state().next_job.value))};
  const int dice = random.below(100);
  if (dice < 12)
    cluster.turn(SubmitExperiment{"sim", {random_request(random)}});
  else if (dice < 14)
    cluster.turn(CancelJob{job});
  else if (dice < 16)
    cluster.turn(PrioritiseJob{job, random.between(0, 100)});
  else if (dice < 30 && find_job(cluster.state(), job) && cluster.state().jobs.at(job).attempt)
    cluster.turn(CheckpointSaved{cluster.state().jobs.at(job).attempt_id(), random.between(1, 1000)});
  else
    cluster.pass(seconds(2), random);
}

TEST(Elastic, JobsAmongOthersKeepTheRules) {
  int grown = 0, shrunk = 0;
  for (std::uint64_t seed = 1; seed <= kHistories; ++seed) {
    Random random(seed);
    SchedulingOptions scheduling;
    scheduling.resize_after = seconds(random.between(2, 20));
    SimCluster cluster(random_nodes(random), scheduling);
    cluster.pass(seconds(2), random);
    Watch watch(cluster);
    std::string unused;
    for (int i = 0; i < 150 && cluster.violation().empty() && unused.empty(); ++i) {
      act(cluster, random);
      unused = watch.look();
    }
    ASSERT_EQ(unused, "") << "seed " << seed << cluster.describe_jobs() << cluster.last_events();
    for (int i = 0; i < 1000 && !cluster.state().jobs.empty() && cluster.violation().empty(); ++i)
      cluster.pass(seconds(10), random);
    cluster.check_replay();
    ASSERT_EQ(cluster.violation(), "") << "seed " << seed << cluster.last_events();
    ASSERT_TRUE(cluster.state().jobs.empty()) << "seed " << seed << cluster.describe_jobs();
    grown += watch.grown();
    shrunk += watch.shrunk();
  }
  EXPECT_GT(grown, 100);
  EXPECT_GT(shrunk, 100);
}

}  // namespace
}  // namespace podium::sim
