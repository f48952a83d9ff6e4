// Which thread computes which of numbered tasks. Each has a run of its own, the same whenever there are as
// many tasks, so that what one op leaves in its caches is there for the next; who is done with it takes from
// the others' runs.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "worker/ops/cpu/parallel.h"

namespace podium::ops::cpu {

class Claims {
 public:
  Claims(std::int64_t count, int threads) : count_(count), runs_(static_cast<std::size_t>(threads)) {
    for (int thread = 0; thread < threads; ++thread) {
      const Range range = part_of(count, 1, thread, threads);
      Run& run = runs_[static_cast<std::size_t>(thread)];
      run.next = range.begin;
      run.end = range.end;
    }
  }

  // The next task of `thread`, or, where none is left, the count of them.
  std::int64_t next(int thread) {
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      Run& run = runs_[(static_cast<std::size_t>(thread) + i) % runs_.size()];
      if (const std::int64_t task = run.next++; task < run.end) return task;
    }
    return count_;
  }

 private:
  struct alignas(64) Run {  // a cache line for each
    std::atomic<std::int64_t> next = 0;
    std::int64_t end = 0;
  };

  std::int64_t count_;
  std::vector<Run> runs_;
};

}  // namespace podium::ops::cpu
