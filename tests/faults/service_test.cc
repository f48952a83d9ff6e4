// Services with real daemons and a model that was trained here: a replica that is killed, a new spec that is
// rolled in, and a training that makes room.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <mutex>
#include <thread>
#include <vector>

#include "common/base/file.h"
#include "common/net/http_client.h"
#include "tests/cluster.h"
#include "tests/faults/observed_job.h"
#include "tests/faults/training_job.h"

namespace podium {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;

constexpr auto kPatience = 120s;

// Why the service has not filled the mask; "" where it has.
std::string ask(const Url& gateway) {
  try {
    const HttpResponse response = fetch(gateway,
                                        {.method = "POST",
                                         .target = "/answers/fill-mask",
                                         .headers = {{"Content-Type", "application/json"}},
                                         .body = R"({"text": "river stone [MASK] water .", "top": 1})"},
                                        30s);
    const bool filled = response.ok() && json::parse(response.body).at("masks").size() == 1;
    return filled ? "" : std::to_string(response.status) + " " + response.body;
  } catch (const std::exception& error) {
    return error.what();
  }
}

// Clients that ask all the time, and again once where they get no answer.
class Load {
 public:
  Load(const Url& gateway, int clients, int tries) {
    for (int i = 0; i < clients; ++i) threads_.emplace_back([this, gateway, tries] { live(gateway, tries); });
  }
  ~Load() { stop(); }

  void stop() {
    over_ = true;
    for (std::thread& thread : threads_)
      if (thread.joinable()) thread.join();
  }
  int answered() const { return answered_; }
  int failed() const { return failed_; }
  const std::string& failure() const { return failure_; }  // once it is stopped

 private:
  void live(const Url& gateway, int tries) {
    while (!over_) {
      std::string failure = ask(gateway);
      for (int i = 1; i < tries && !failure.empty(); ++i) failure = ask(gateway);
      ++(failure.empty() ? answered_ : failed_);
      if (failure.empty()) continue;
      const std::lock_guard lock(mutex_);
      failure_ = failure;
    }
  }

  std::atomic<bool> over_ = false;
  std::atomic<int> answered_ = 0, failed_ = 0;
  std::mutex mutex_;
  std::string failure_;
  std::vector<std::thread> threads_;
};

class Service : public ::testing::Test {
 protected:
  Service() {
    write_training_data(cluster_.data());
    model_ = cluster_.submit(training_spec("model", 40));
    cluster_.wait_for_state(model_, "succeeded");
  }

  std::string spec(const std::string& replicas, int max_queue = 512) const {
    return "version: 1\nname: answers\ntask: serve\nmodel: {init: {job: " + to_string(model_) +
           "}}\nserve: {max_queue: " + std::to_string(max_queue) + "}\nreplicas: " + replicas +
           "\nresources: {devices: 1, kind: cpu}\npriority: 80\n";
  }
  Url gateway() const {
    std::string address = read_file(cluster_.folder() / "coordinator" / "services.address");
    address.erase(address.find_last_not_of('\n') + 1);
    return *parse_url(address);
  }
  // Waits until the service is as `done` wishes.
  json wait_for_service(const std::function<bool(const json&)>& done) const {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    json service;
    while (std::chrono::steady_clock::now() < deadline) {
      service = cluster_.get("/services/answers");
      if (done(service)) return service;
      std::this_thread::sleep_for(50ms);
    }
    throw std::runtime_error("waited in vain for the service; it is " + service.dump(1));
  }
  json wait_for_ready(int replicas) const {
    return wait_for_service([&](const json& service) { return service.at("ready") == replicas; });
  }

  Cluster cluster_{2, 2, {"--services", "127.0.0.1:0", "--resize-after", "1s"}};
  JobId model_;
};

TEST_F(Service, AKilledReplicaUnderLoadCostsNoClientThatAsksTwiceAnAnswer) {
  const JobId first = cluster_.submit(spec("2"));
  wait_for_ready(2);
  Load load(gateway(), 8, 2);
  while (load.answered() < 100 && load.failed() == 0) std::this_thread::sleep_for(10ms);
  const pid_t pid = workers(cluster_.get("/jobs/" + to_string(first))).at(0);
  ASSERT_EQ(::kill(pid, SIGKILL), 0);
  cluster_.wait_for(
      first, [](const json& job) { return job.at("attempts").size() == 2 && job.at("state") == "running"; });
  wait_for_ready(2);
  const int before = load.answered();
  while (load.answered() < before + 100 && load.failed() == 0) std::this_thread::sleep_for(10ms);
  load.stop();
  EXPECT_EQ(load.failed(), 0) << load.failure();
}

TEST_F(Service, ANewSpecIsRolledInWithoutAFailedRequest) {
  const JobId first = cluster_.submit(spec("2"));
  wait_for_ready(2);
  Load load(gateway(), 8, 1);
  const JobId second = cluster_.submit(spec("2", 300));
  EXPECT_EQ(second.value, first.value + 2);
  cluster_.wait_for_state(first, "cancelled");
  cluster_.wait_for_state({first.value + 1}, "cancelled");
  const json service = wait_for_ready(2);
  load.stop();
  EXPECT_EQ(load.failed(), 0) << load.failure();
  EXPECT_GT(load.answered(), 100);
  EXPECT_EQ(service.at("roll").at("state"), "none");
  EXPECT_EQ(service.at("replicas").at(0).at("job"), second.value);
}

TEST_F(Service, AnElasticTrainingShrinksForAServiceOfAHigherPriority) {
  std::string training = training_spec("training", 100'000);
  training.replace(training.find("devices: 2, per_node: 1"), 23, "devices: {min: 1, max: 4}");
  training.replace(training.find("micro: 16"), 9, "micro: 8");
  const JobId elastic = cluster_.submit(training);
  wait_for_step(cluster_, elastic, 5);
  ASSERT_EQ(workers(cluster_.get("/jobs/" + to_string(elastic))).size(), 4u);
  const JobId replica = cluster_.submit(spec("1"));
  wait_for_ready(1);
  EXPECT_EQ(ask(gateway()), "");
  const json shrunk = cluster_.wait_for(elastic, [](const json& job) {
    return job.at("attempts").size() == 2 && job.at("state") == "running";
  });
  EXPECT_EQ(shrunk.at("attempts")[0].at("end"), "resized");
  EXPECT_LT(workers(shrunk).size(), 4u);
  EXPECT_TRUE(
      shrunk.at("attempts")[0].at("reason").get<std::string>().ends_with("for job " + to_string(replica)))
      << shrunk.dump(1);
  EXPECT_EQ(ask(gateway()), "");
}

}  // namespace
}  // namespace podium
