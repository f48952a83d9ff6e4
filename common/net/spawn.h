// Starts a coroutine nobody waits for. Coroutines take their parameters by value: what they refer to may be
// gone.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <string>

namespace podium {

using boost::asio::awaitable;

// Whatever escapes the coroutine is logged under `name` as an error; being cancelled is not an error.
void spawn(boost::asio::any_io_executor executor, std::string name, awaitable<void> work);

}  // namespace podium
