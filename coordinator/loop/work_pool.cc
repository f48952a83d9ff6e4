#include "coordinator/loop/work_pool.h"

namespace podium {

WorkPool::WorkPool(const Store& store, std::string what, std::size_t threads, std::size_t most)
    : store_(store), what_(std::move(what)), most_(most), pool_(threads) {}

WorkPool::~WorkPool() { pool_.join(); }

WorkPool::Place::Place(WorkPool& owner) : pool(owner) {
  if (pool.taken_ >= pool.most_) throw Busy("too much waits for " + pool.what_ + " already; try again soon");
  ++pool.taken_;
}

WorkPool::Borrowed::Borrowed(WorkPool& owner) : pool(owner) {
  {
    const std::lock_guard lock(pool.mutex_);
    if (!pool.idle_.empty()) {
      reader = std::move(pool.idle_.back());
      pool.idle_.pop_back();
    }
  }
  if (!reader) reader = pool.store_.open_reader();
}

WorkPool::Borrowed::~Borrowed() {
  const std::lock_guard lock(pool.mutex_);
  pool.idle_.push_back(std::move(reader));
}

}  // namespace podium
