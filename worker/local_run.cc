#include "worker/local_run.h"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <stdexcept>
#include <thread>

#include "common/base/file.h"
#include "common/base/logging.h"
#include "common/model/launch.h"
#include "worker/comm/socket.h"

extern char** environ;

namespace podium {
namespace {

namespace fs = std::filesystem;

std::string random_secret() {
  std::random_device device;
  std::string secret;
  for (int i = 0; i < 8; ++i) secret += fmt::format("{:08x}", device());
  return secret;
}

std::vector<fs::path> write_launches(const LocalRun& run) {
  Launch launch;
  launch.name = run.spec.name;
  launch.spec = run.spec;
  launch.world_size = launch.local_world_size = run.devices;
  launch.task.attempt.number = 1;
  launch.node = NodeId{"local"};
  launch.secret = random_secret();
  launch.master_port = port_of(listen_on(launch.master_address, 0));
  launch.threads = run.threads;
  launch.data_folder = fs::absolute(run.data_folder);
  launch.checkpoint_folder = fs::absolute(run.out_folder / "checkpoints");
  std::vector<fs::path> paths;
  for (int rank = 0; rank < run.devices; ++rank) {
    const fs::path folder = fs::absolute(run.out_folder / ("rank-" + std::to_string(rank)));
    fs::create_directories(folder);
    launch.task.rank = launch.local_rank = launch.device_index = rank;
    launch.events_path = folder / "events.jsonl";
    paths.push_back(folder / "launch.json");
    write_file_atomic(paths.back(), to_json(launch).dump(2), 0600);
  }
  return paths;
}

pid_t start(const fs::path& program, const fs::path& launch) {
  std::string name = program.string();
  std::string command = "run";
  std::string path = launch.string();
  char* arguments[] = {name.data(), command.data(), path.data(), nullptr};
  sigset_t none;
  ::sigemptyset(&none);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, name.c_str(), nullptr, &attributes, arguments, environ);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0) throw std::runtime_error("cannot start " + name + ": " + std::strerror(error));
  return pid;
}

// The ranks that run, and what the first failure among the others was.
class Gang {
 public:
  explicit Gang(std::map<pid_t, int> ranks) : ranks_(std::move(ranks)) {}

  bool running() const { return !ranks_.empty(); }
  int exit_code() const { return exit_code_; }

  void signal_all(int number) const {
    for (const auto& [pid, rank] : ranks_) ::kill(pid, number);
  }

  // Reaps every rank that has ended; the first failure takes the others down.
  void reap() {
    int status = 0;
    for (pid_t pid = 0; running() && (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      const auto ended = ranks_.find(pid);
      if (ended == ranks_.end()) continue;
      const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      if (code != 0 && exit_code_ == 0) {
        exit_code_ = code;
        spdlog::error("rank {} ended with exit code {}", ended->second, code);
        signal_all(SIGTERM);
      }
      ranks_.erase(ended);
    }
  }

 private:
  std::map<pid_t, int> ranks_;
  int exit_code_ = 0;
};

}  // namespace

int run_locally(const LocalRun& run) {
  sigset_t watched;
  ::sigemptyset(&watched);
  for (const int number : {SIGCHLD, SIGTERM, SIGINT}) ::sigaddset(&watched, number);
  ::pthread_sigmask(SIG_BLOCK, &watched, nullptr);

  std::map<pid_t, int> ranks;
  for (const fs::path& launch : write_launches(run)) {
    const int rank = static_cast<int>(ranks.size());
    ranks[start(run.program, launch)] = rank;
  }
  Gang gang(std::move(ranks));
  const timespec poll{1, 0};
  while (gang.running()) {
    const int number = ::sigtimedwait(&watched, nullptr, &poll);
    if (number == SIGTERM || number == SIGINT) gang.signal_all(SIGTERM);
    gang.reap();
  }
  return gang.exit_code();
}

}  // namespace podium
