// A rank that hangs: the job's record says which one, while it lasts.
#include <gtest/gtest.h>

#include <csignal>
#include <thread>

#include "tests/cluster.h"
#include "tests/faults/observed_job.h"
#include "tests/faults/training_job.h"

namespace podium {
namespace {

using nlohmann::json;

class Hang : public ::testing::Test {
 protected:
  Hang() {
    write_training_data(cluster_.data());
    job_ = cluster_.submit(training_spec("job", 500'000));
    pids_ = workers(wait_for_step(cluster_, job_, 5));
  }

  void signal(int rank, int number) const { ASSERT_EQ(::kill(pids_.at(rank), number), 0); }

  void expect_note(const std::string& text) const {
    std::string history;
    cluster_.wait_for(job_, [&](const json& seen) {
      EXPECT_EQ(seen.at("state"), "running");
      history = cluster_.get("/jobs/" + to_string(job_) + "/events").dump();
      return history.find(text) != std::string::npos;
    });
  }

  // It trains again, in its first attempt.
  void expect_goes_on() const {
    const json stood = cluster_.get("/jobs/" + to_string(job_));
    const json seen = wait_for_step(cluster_, job_, stood.at("progress").at("step").get<int>() + 5);
    EXPECT_EQ(seen.at("attempts").size(), 1u) << seen.dump(1);
  }

  Cluster cluster_{2};
  JobId job_;
  std::map<int, pid_t> pids_;
};

// "running", for five minutes, was all that was said.
TEST_F(Hang, ARankThatIsStoppedIsNamedInTheJobsHistory) {
  signal(1, SIGSTOP);
  expect_note("waiting for rank 1 since");
  signal(1, SIGCONT);
  expect_goes_on();
}

// Rank 1 is stopped within the sum in which it waits for rank 0.
TEST_F(Hang, ARankThatIsStoppedInACollectiveIsNamed) {
  signal(0, SIGSTOP);
  std::this_thread::sleep_for(std::chrono::seconds(5));
  signal(1, SIGSTOP);
  signal(0, SIGCONT);
  expect_note("waiting for rank 1 since");
  signal(1, SIGCONT);
  expect_goes_on();
}

}  // namespace
}  // namespace podium
