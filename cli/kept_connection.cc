#include "cli/kept_connection.h"

#include <signal.h>

#include <boost/asio/co_spawn.hpp>
#include <chrono>
#include <exception>
#include <optional>
#include <thread>

namespace podium::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto kAbsence = 1min;  // of a coordinator that goes away in between
constexpr auto kBeforeNextTry = 500ms;

std::string mlflow_target(std::string_view path, const Query& query) {
  return "/api/2.0/mlflow" + api_target(path, query).substr(api_target("").size());
}

}  // namespace

KeptConnection::KeptConnection(const Client& client)
    : client_(client),
      signals_(loop_, SIGINT, SIGTERM),
      http_(loop_.get_executor(), client.server(), client.options()) {}

HttpResponse KeptConnection::exchange(const HttpRequest& request) {
  std::optional<HttpResponse> response;
  std::exception_ptr failure;
  bool interrupted = false;
  signals_.async_wait([&](const boost::system::error_code& error, int) {
    if (error) return;
    interrupted = true;
    http_.cancel();
  });
  boost::asio::co_spawn(loop_, http_.request(request, client_.timeout(Patience::great)),
                        [&](std::exception_ptr error, HttpResponse answer) {
                          failure = error;
                          response = std::move(answer);
                          signals_.cancel();
                        });
  loop_.restart();
  loop_.run();
  if (interrupted) throw Interrupted{};
  if (failure) std::rethrow_exception(failure);
  return std::move(*response);
}

nlohmann::json KeptConnection::send(HttpRequest request) {
  const auto last = std::chrono::steady_clock::now() + kAbsence;
  while (true) {
    try {
      const HttpResponse response = exchange(request);
      require_ok(response);
      return parse_body(response);
    } catch (const NetError& error) {
      if (error.failure() == NetFailure::timed_out || std::chrono::steady_clock::now() > last)
        client_.give_up(error, request, client_.timeout(Patience::great));
      std::this_thread::sleep_for(kBeforeNextTry);
    }
  }
}

nlohmann::json KeptConnection::get(std::string_view path, const Query& query) {
  return send(client_.request("GET", path, query));
}

nlohmann::json KeptConnection::get_mlflow(std::string_view path, const Query& query) {
  HttpRequest request = client_.request("GET", path);
  request.target = mlflow_target(path, query);
  return send(std::move(request));
}

nlohmann::json KeptConnection::post_mlflow(std::string_view path, const nlohmann::json& body) {
  HttpRequest request = client_.request("POST", path);
  request.target = mlflow_target(path, {});
  request.headers.set("Content-Type", "application/json");
  request.repeatable = true;
  request.body = body.dump();
  return send(std::move(request));
}

}  // namespace podium::cli
