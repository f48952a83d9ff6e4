// Work that would hold up the loop's thread: reading history from the store, checking specs, reading files.
// It runs on a few threads; its result, or what it threw, comes back to the awaiting coroutine on the loop's
// thread.
// Name a lambda that captures strings or containers before the co_await: GCC 12 destroys one written inside
// it twice.
#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "coordinator/store/store.h"

namespace podium {

class WorkPool {
 public:
  WorkPool(const Store& store, std::size_t threads);
  ~WorkPool();  // waits for what is running

  // Runs `work()`.
  template <class Work>
  boost::asio::awaitable<std::invoke_result_t<Work&>> run(Work work) {
    auto result =
        co_await boost::asio::co_spawn(pool_, as_coroutine(std::move(work)), boost::asio::use_awaitable);
    co_return std::move(*result);
  }

  // Runs `query(reader)` with a read-only view of the store.
  template <class Query>
  auto read(Query query) {
    return run([this, query = std::move(query)]() mutable {
      const Borrowed reader(*this);
      return query(*reader.reader);
    });
  }

 private:
  struct Borrowed {
    explicit Borrowed(WorkPool& owner);
    ~Borrowed();
    Borrowed(const Borrowed&) = delete;

    WorkPool& pool;
    std::unique_ptr<Reader> reader;
  };

  // Optional, because co_spawn wants a default value beside an exception.
  template <class Work>
  static boost::asio::awaitable<std::optional<std::invoke_result_t<Work&>>> as_coroutine(Work work) {
    co_return work();
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<Reader>> idle_;  // guarded by mutex_; as many as threads
  boost::asio::thread_pool pool_;
};

}  // namespace podium
