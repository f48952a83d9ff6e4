// Runs a piece of work on the threads of a pool; its result or exception comes back to the awaiting coroutine
// on its own executor. Name a lambda that captures strings or containers before the co_await: GCC 12 destroys
// one written inside it twice.
#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <optional>
#include <type_traits>
#include <utility>

namespace podium {

// Optional, because co_spawn wants a default value beside an exception.
template <class Work>
boost::asio::awaitable<std::optional<std::invoke_result_t<Work&>>> as_coroutine(Work work) {
  co_return work();
}

template <class Work>
boost::asio::awaitable<std::invoke_result_t<Work&>> run_on(boost::asio::thread_pool& pool, Work work) {
  auto result =
      co_await boost::asio::co_spawn(pool, as_coroutine(std::move(work)), boost::asio::use_awaitable);
  co_return std::move(*result);
}

}  // namespace podium
