// A real cluster on this machine for tests: one coordinator and some agents, each in a folder of its own,
// talking over loopback. Everything it started is killed at the end, workers included.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/base/id.h"
#include "common/net/url.h"
#include "tests/child.h"
#include "tests/temp_folder.h"

namespace podium {

class Cluster {
 public:
  // `nodes` agents with CPU slots of one thread each, named node-1, node-2, …; all have joined when this
  // returns.
  explicit Cluster(int nodes, int slots_per_node = 1, std::vector<std::string> coordinator_options = {});
  ~Cluster();

  const std::filesystem::path& folder() const { return folder_.path(); }
  std::filesystem::path data() const { return folder() / "data"; }
  std::filesystem::path checkpoints(JobId job) const;
  // The folder of a task on its node, as docs/protocols.md lays it out.
  std::filesystem::path task_folder(int node, TaskId task) const;

  Child& coordinator() { return *coordinator_; }
  Child& agent(int node) { return *agents_.at(static_cast<std::size_t>(node - 1)); }
  // Starts a new process in the place of one that has ended; the coordinator keeps its port.
  void start_coordinator();
  void start_agent(int node, const std::vector<std::string>& more = {});
  // As start_agent has it, but for its home.
  std::vector<std::string> agent_command(int node, const std::filesystem::path& home) const;

  nlohmann::json get(const std::string& path) const;  // under /api/v1; fails the test on any status but 200
  Url server() const;
  JobId submit(const std::string& yaml) const;        // the spec's first job
  void cancel(JobId job) const;
  void requeue(JobId job) const;
  // `count` submissions one after the other over one kept connection. Safe from several threads at once.
  void submit_all(int count, const std::function<std::string(int)>& yaml) const;
  // POST /nodes/{node}/streams with the agents' token.
  void post_streams(const std::string& node, const std::string& body) const;
  // Polls the job until `done` likes what it sees; throws when the job ends without that, or after two
  // minutes.
  nlohmann::json wait_for(JobId job, const std::function<bool(const nlohmann::json&)>& done) const;
  nlohmann::json wait_for_state(JobId job, const std::string& state) const;

 private:
  nlohmann::json post(const std::string& path, const nlohmann::json& body) const;
  void wait_until(const std::string& what, const std::function<bool()>& done) const;

  TempFolder folder_;
  const int slots_per_node_;
  const std::vector<std::string> coordinator_options_;
  int port_ = 0;
  std::unique_ptr<Child> coordinator_;
  std::vector<std::unique_ptr<Child>> agents_;
};

// The processes whose command line contains `text`.
std::vector<pid_t> processes_with(const std::string& text);

}  // namespace podium
