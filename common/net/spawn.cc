#include "common/net/spawn.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>

#include "common/base/logging.h"

namespace podium {
namespace {

void log_escaped(const std::string& name, const std::exception_ptr& escaped) {
  try {
    std::rethrow_exception(escaped);
  } catch (const boost::system::system_error& error) {
    if (error.code() != boost::asio::error::operation_aborted)
      spdlog::error("{} ended: {}", name, error.what());
  } catch (const std::exception& error) {
    spdlog::error("{} ended: {}", name, error.what());
  }
}

}  // namespace

void spawn(boost::asio::any_io_executor executor, std::string name, awaitable<void> work) {
  boost::asio::co_spawn(std::move(executor), std::move(work),
                        [name = std::move(name)](std::exception_ptr escaped) {
                          if (escaped) log_escaped(name, escaped);
                        });
}

}  // namespace podium
