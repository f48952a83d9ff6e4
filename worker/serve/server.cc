#include "worker/serve/server.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <csignal>
#include <cstdlib>
#include <exception>

#include "common/base/logging.h"
#include "common/net/spawn.h"

namespace podium {
namespace {

namespace asio = boost::asio;

constexpr std::chrono::milliseconds kSendAnswers{2'000};  // what is computed, to clients that read

class Server {
 public:
  Server(const ServerSettings& settings, LoadModel load)
      : settings_(settings),
        models_(settings.models, std::move(load), settings.rules),
        api_(io_.get_executor(), models_, settings.api),
        http_(
            io_.get_executor(), settings.http,
            [this](ServerRequest request) { return api_.answer(std::move(request)); },
            [this](const ServerRequest& head) { return api_.refuse(head); }) {}

  std::string address() const { return HostPort{settings_.http.listen.host, http_.port()}.text(); }

  void run() {
    http_.start();
    spawn(io_.get_executor(), "the first load", load_first());
    spawn(io_.get_executor(), "SIGTERM", stop_on_signal());
    spawn(io_.get_executor(), "SIGHUP", reload_on_signal());
    io_.run();
    if (failure_) std::rethrow_exception(failure_);
    const auto [accepted, answered] = api_.counts();
    const std::uint64_t lost = accepted - answered;
    spdlog::info("stopped; {} requests were accepted, {} answered", accepted, answered);
    if (lost == 0) return;
    spdlog::warn("{} requests were not answered within the grace", lost);
    std::_Exit(EXIT_SUCCESS);  // what is being computed for them still uses all that would be destroyed
  }

 private:
  asio::awaitable<void> load_first() {
    try {
      co_await models_.load_all();
      spdlog::info("ready");
    } catch (...) {
      failure_ = std::current_exception();
      io_.stop();
    }
  }

  asio::awaitable<void> stop_on_signal() {
    co_await stop_signals_.async_wait(asio::use_awaitable);
    stop_signals_.clear();
    std::signal(SIGTERM, SIG_DFL);
    std::signal(SIGINT, SIG_DFL);
    spdlog::info("stopping once the requests that are here are answered");
    api_.drain();
    asio::steady_timer pause(io_);
    const auto end = std::chrono::steady_clock::now() + settings_.grace;
    while (api_.counts().answered < api_.counts().accepted && std::chrono::steady_clock::now() < end) {
      pause.expires_after(std::chrono::milliseconds(5));
      co_await pause.async_wait(asio::use_awaitable);
    }
    co_await http_.stop(kSendAnswers);
    io_.stop();
  }

  asio::awaitable<void> reload_on_signal() {
    while (true) {
      co_await load_signals_.async_wait(asio::use_awaitable);
      std::string failure;
      try {
        co_await models_.load_all();
      } catch (const std::exception& error) {
        failure = error.what();
      }
      if (!failure.empty()) spdlog::error("{}; what is not loaded yet answers as before", failure);
    }
  }

  const ServerSettings& settings_;
  asio::io_context io_{1};
  ModelRegistry models_;
  ServeApi api_;
  HttpServer http_;
  asio::signal_set stop_signals_{io_, SIGTERM, SIGINT};
  asio::signal_set load_signals_{io_, SIGHUP};
  std::exception_ptr failure_;
};

}  // namespace

void serve(const ServerSettings& settings, LoadModel load,
           const std::function<void(const std::string& address)>& on_listening) {
  std::signal(SIGPIPE, SIG_IGN);
  Server server(settings, std::move(load));
  on_listening("http://" + server.address());
  server.run();
}

}  // namespace podium
