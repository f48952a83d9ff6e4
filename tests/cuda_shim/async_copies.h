// One thread's asynchronous copies to shared memory. The hardware makes them some time between their request
// and the wait for their group. Here they are made as late as that in ascending order, at once in descending,
// and when their group is committed in shuffled order, so that reading too early and asking too early both
// show.
#pragma once

#include <cstddef>
#include <cstring>
#include <deque>
#include <utility>
#include <vector>

#include "tests/cuda_shim/block.h"

namespace podium::shim {

struct AsyncCopy {
  void* to;
  const void* from;
  std::size_t bytes;
  bool filled;  // else zeros are written
};

class AsyncCopies {
 public:
  void clear() {
    open_.clear();
    committed_.clear();
  }
  void add(const AsyncCopy& copy, Order order) {
    if (order == Order::descending) return perform(copy);
    open_.push_back(copy);
  }
  void commit(Order order) {
    if (order == Order::shuffled) perform_open();
    committed_.push_back(std::exchange(open_, {}));
  }
  // Until at most `pending` groups are not done.
  void wait(std::size_t pending) {
    while (committed_.size() > pending) {
      for (const AsyncCopy& copy : committed_.front()) perform(copy);
      committed_.pop_front();
    }
  }

 private:
  static void perform(const AsyncCopy& copy) {
    if (copy.filled) {
      std::memcpy(copy.to, copy.from, copy.bytes);
    } else {
      std::memset(copy.to, 0, copy.bytes);
    }
  }
  void perform_open() {
    for (const AsyncCopy& copy : open_) perform(copy);
    open_.clear();
  }

  std::vector<AsyncCopy> open_;
  std::deque<std::vector<AsyncCopy>> committed_;
};

}  // namespace podium::shim
