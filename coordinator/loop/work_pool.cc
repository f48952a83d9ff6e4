#include "coordinator/loop/work_pool.h"

#include "common/base/check.h"

namespace podium {

WorkPool::WorkPool(const Store& store, std::size_t threads) : pool_(threads) {
  for (std::size_t i = 0; i < threads; ++i) idle_.push_back(store.open_reader());
}

WorkPool::~WorkPool() { pool_.join(); }

WorkPool::Borrowed::Borrowed(WorkPool& owner) : pool(owner) {
  const std::lock_guard lock(pool.mutex_);
  PODIUM_CHECK(!pool.idle_.empty(), "each thread of the pool has a reader");
  reader = std::move(pool.idle_.back());
  pool.idle_.pop_back();
}

WorkPool::Borrowed::~Borrowed() {
  const std::lock_guard lock(pool.mutex_);
  pool.idle_.push_back(std::move(reader));
}

}  // namespace podium
