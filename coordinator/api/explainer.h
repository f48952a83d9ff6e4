// Why jobs wait and when they start, answered off the loop's thread. Forecasts are dear where many jobs wait:
// at most kAtOnce run, on a pool of their own, one of a job, and few wait; each stops after a few seconds and
// says how far it saw; and an answer is given again while nothing has changed, or for a while that follows
// from what it cost.
#pragma once

#include <chrono>
#include <map>
#include <nlohmann/json.hpp>

#include "coordinator/api/key_lock.h"
#include "coordinator/loop/command_loop.h"
#include "coordinator/loop/state_mirror.h"
#include "coordinator/loop/work_pool.h"

namespace podium {

class Explainer {
 public:
  static constexpr int kAtOnce = 2;
  static constexpr int kMostAsked = 32;

  // The references outlive it.
  Explainer(boost::asio::any_io_executor executor, CommandLoop& loop, StateMirror& mirror, WorkPool& pool);

  // The members of GET /jobs/{job}/why from `now_ms` on, of a job that waits. Throws Busy.
  boost::asio::awaitable<nlohmann::json> explain(JobId job);

 private:
  struct Answer {
    nlohmann::json body;
    std::int64_t epoch = 0;  // of the state it was made for
    std::chrono::steady_clock::time_point made;
    std::chrono::steady_clock::duration cost{};
  };

  const Answer* still_good(JobId job) const;
  void keep(JobId job, Answer answer);

  CommandLoop& loop_;
  StateMirror& mirror_;
  WorkPool& pool_;
  KeyLock turns_;
  int asked_ = 0;  // forecasts that run or wait
  std::map<JobId, Answer> answers_;
};

}  // namespace podium
