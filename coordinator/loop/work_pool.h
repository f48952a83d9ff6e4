// Runs work that would delay the loop's thread: reads of the store, checks of specs, reads of files. It runs
// on a few threads; its result or exception comes back to the awaiting coroutine on the loop's thread. Each
// kind of work has a pool of its own, so that no kind waits for another. A pool takes a bounded number of
// pieces and throws Busy beyond it. Name a lambda that captures strings or containers (run_on.h).
#pragma once

#include <boost/asio/thread_pool.hpp>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/net/run_on.h"
#include "coordinator/store/store.h"

namespace podium {

// Too much work is waiting already: the answer is 503, and the client tries again.
class Busy : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class WorkPool {
 public:
  // `what`: the kind of work, for messages to clients. At most `most` pieces run or wait.
  WorkPool(const Store& store, std::string what, std::size_t threads, std::size_t most);
  ~WorkPool();  // waits for what is running

  // Runs `work()`. Throws Busy.
  template <class Work>
  boost::asio::awaitable<std::invoke_result_t<Work&>> run(Work work) {
    const Place place(*this);
    co_return co_await run_on(pool_, std::move(work));
  }

  // Runs `query(reader)` with a read-only view of the store. Throws Busy.
  template <class Query>
  auto read(Query query) {
    return run([this, query = std::move(query)]() mutable {
      const Borrowed reader(*this);
      return query(*reader.reader);
    });
  }

 private:
  // One of the pieces that run or wait.
  struct Place {
    explicit Place(WorkPool& owner);
    ~Place() { --pool.taken_; }
    Place(const Place&) = delete;

    WorkPool& pool;
  };
  struct Borrowed {
    explicit Borrowed(WorkPool& owner);
    ~Borrowed();
    Borrowed(const Borrowed&) = delete;

    WorkPool& pool;
    std::unique_ptr<Reader> reader;
  };

  const Store& store_;
  const std::string what_;
  const std::size_t most_;
  std::size_t taken_ = 0;  // on the loop's thread
  std::mutex mutex_;
  std::vector<std::unique_ptr<Reader>> idle_;  // guarded by mutex_; opened on demand
  boost::asio::thread_pool pool_;
};

}  // namespace podium
