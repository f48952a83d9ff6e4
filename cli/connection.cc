#include "cli/connection.h"

#include <signal.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/signal_set.hpp>

namespace podium::cli {

namespace asio = boost::asio;
using asio::awaitable;
using nlohmann::json;

Connection::Connection(asio::any_io_executor executor, const Client& client)
    : client_(client), http_(std::move(executor), client.server(), client.options()) {}

awaitable<HttpResponse> Connection::send(HttpRequest request) {
  const Duration timeout = client_.timeout(Patience::usual);
  try {
    HttpResponse response = co_await http_.request(request, timeout);
    require_ok(response);
    co_return response;
  } catch (const NetError& error) {
    client_.give_up(error, request, timeout);
  }
}

awaitable<json> Connection::get(std::string path) {
  const HttpRequest request = client_.request("GET", path);
  const HttpResponse response = co_await send(request);
  co_return parse_body(response);
}

awaitable<std::string> Connection::ask(std::string path, json body) {
  HttpRequest request = client_.request("POST", path);
  request.headers.set("Content-Type", "application/json");
  request.repeatable = true;
  request.body = body.dump();
  HttpResponse response = co_await send(request);
  co_return std::move(response.body);
}

bool run_unless_interrupted(asio::io_context& loop, awaitable<void> work) {
  bool interrupted = false;
  std::exception_ptr failure;
  asio::signal_set signals(loop, SIGINT, SIGTERM);
  signals.async_wait([&](const boost::system::error_code& error, int) {
    if (error) return;
    interrupted = true;
    loop.stop();
  });
  asio::co_spawn(loop, std::move(work), [&](std::exception_ptr error) {
    failure = error;
    loop.stop();
  });
  loop.run();
  if (failure) std::rethrow_exception(failure);
  return !interrupted;
}

}  // namespace podium::cli
