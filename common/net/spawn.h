// Starts a coroutine that nothing awaits. Coroutines take their parameters by value, because referenced
// objects may be gone.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <string>

namespace podium {

using boost::asio::awaitable;

// An exception that escapes the coroutine is logged under `name` as an error; cancellation is not an error.
void spawn(boost::asio::any_io_executor executor, std::string name, awaitable<void> work);

}  // namespace podium
