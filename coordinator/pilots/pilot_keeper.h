// Keeps as many nodes of Slurm as jobs need: looks at the cluster and at Slurm every few seconds, carries out
// what pilot_plan.h decides, and backs off while Slurm does not answer. On the loop's thread; Slurm's
// programs run on a thread of their own, one at a time.
#pragma once

#include <atomic>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/base/file.h"
#include "coordinator/loop/command_loop.h"
#include "coordinator/pilots/pilot_words.h"
#include "coordinator/pilots/program_run.h"

namespace podium {

class PilotKeeper {
 public:
  // The loop must outlive it. `home`: the coordinator's.
  PilotKeeper(boost::asio::any_io_executor executor, CommandLoop& loop, SlurmOptions options,
              const std::filesystem::path& home);
  ~PilotKeeper();

  // `address`: the coordinator's own, for agents, where the options name none.
  void start(const std::string& address);
  // Ends what is under way: at the next start Slurm's list tells what became of it.
  void stop();

  // Nothing where the job waits for no nodes on demand.
  std::optional<Blocker> why(JobId job) const;

 private:
  boost::asio::awaitable<void> run();
  boost::asio::awaitable<Duration> look();
  boost::asio::awaitable<void> carry_out(PilotSteps steps);
  boost::asio::awaitable<void> give_back(const GiveBack& allocation);
  boost::asio::awaitable<bool> ask(const Ask& wanted);
  struct Answer {
    std::string out;
    std::string failure;  // "": it did what it was asked
  };
  boost::asio::awaitable<Answer> run_slurm(std::vector<std::string> command, std::string input);
  PilotStand stand() const;
  bool is_idle(std::int64_t allocation) const;
  bool has_work(const PilotStand& stand) const;

  boost::asio::any_io_executor executor_;
  CommandLoop& loop_;
  SlurmOptions options_;
  const std::filesystem::path lock_path_;
  Fd lock_;  // held by this process and by the programs that it starts
  PilotView view_;
  PilotMemory memory_;
  bool looked_ = false;  // at Slurm, since the start
  int failures_ = 0;     // of looks, in a row
  std::atomic<bool> stopped_ = false;
  boost::asio::steady_timer pause_;
  boost::asio::thread_pool thread_{1};
};

}  // namespace podium
