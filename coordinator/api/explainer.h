// Answers why jobs wait and when they start, off the loop's thread. Forecasts are expensive where many jobs
// wait. Therefore at most kAtOnce run, on a pool of their own, one for each job, and few wait; each stops
// after a few seconds and says how far it saw; and an answer is reused while nothing has changed, or for a
// time proportional to its cost.
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

  // The references must outlive it.
  Explainer(boost::asio::any_io_executor executor, CommandLoop& loop, StateMirror& mirror, WorkPool& pool);

  // The members of GET /jobs/{job}/why from `now_ms` on, for a waiting job. Throws Busy.
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
