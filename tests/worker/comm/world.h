// A world of real ranks over Gloo for tests: each a process of its own, or, where the test wants to look at
// what they hold, a thread. Processes are forked, so a test that used OpenMP before must not start them.
#pragma once

#include <functional>
#include <thread>
#include <vector>

#include "tests/worker/comm/processes.h"
#include "worker/comm/gloo_communicator.h"

namespace podium {

inline GlooOptions world_options(int rank, int size, int port) {
  GlooOptions options;
  options.rank = rank;
  options.size = size;
  options.master_address = "127.0.0.1";
  options.master_port = port;
  options.secret = "of this attempt";
  return options;
}

// The exit codes of all ranks: what `run` returned.
inline std::vector<int> run_processes(int size, const std::function<int(Communicator& world)>& run) {
  const int port = free_port();
  return ForkedProcesses(size,
                   [&](int rank) {
                     GlooCommunicator world(world_options(rank, size, port));
                     const int code = run(world);
                     world.barrier();
                     return code;
                   })
      .wait_all();
}

inline void run_threads(int size, const std::function<void(Communicator& world)>& run) {
  const int port = free_port();
  std::vector<std::jthread> ranks;
  for (int rank = 0; rank < size; ++rank)
    ranks.emplace_back([&, rank] {
      GlooCommunicator world(world_options(rank, size, port));
      run(world);
      world.barrier();
    });
}

}  // namespace podium
