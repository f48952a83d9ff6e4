#include "worker/serve/server.h"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/system_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <csignal>
#include <exception>
#include <memory>

#include "common/base/logging.h"
#include "common/net/spawn.h"
#include "worker/data/failure.h"
#include "worker/train/leave_process.h"

namespace podium {
namespace {

namespace asio = boost::asio;

constexpr std::chrono::milliseconds kSendAnswers{
    2'000};  // the end of the grace: what is computed by then is sent

ServerOptions watching_clients(ServerOptions options) {
  options.watch_clients = true;
  return options;
}

class Server {
 public:
  Server(const ServerSettings& settings, LoadModel load, const ServerEvents& events)
      : settings_(settings),
        events_(events),
        models_(settings.models, std::move(load), settings.rules),
        api_(io_.get_executor(), models_, settings.api),
        http_(io_.get_executor(), watching_clients(settings.http),
              [this](ServerRequest request) { return api_.answer(std::move(request)); },
              {.check = [this](const ServerRequest& head) { return api_.refuse(head); }}) {
    if (settings_.stop) return;
    stop_signals_.add(SIGTERM);
    stop_signals_.add(SIGINT);
  }

  std::string address() const { return HostPort{settings_.http.listen.host, http_.port()}.text(); }

  // Until it has stopped. Why, where it could not begin.
  std::exception_ptr run() {
    http_.start();
    spawn(io_.get_executor(), "the first load", load_first());
    spawn(io_.get_executor(), "SIGTERM", settings_.stop ? stop_on_flag() : stop_on_signal());
    spawn(io_.get_executor(), "SIGHUP", reload_on_signal());
    io_.run();
    const auto [accepted, answered] = api_.counts();
    spdlog::info("stopped; {} requests were accepted, {} answered", accepted, answered);
    if (accepted > answered)
      spdlog::warn("{} requests were not answered within the grace", accepted - answered);
    return failure_;
  }

  // Threads still use it, also after run().
  bool at_work() const { return api_.counts().answered < api_.counts().accepted || models_.at_work(); }

 private:
  asio::awaitable<void> load_first() {
    try {
      co_await models_.load_all();
      spdlog::info("ready");
      events_.ready();
    } catch (...) {
      failure_ = std::current_exception();
    }
    if (failure_) co_return co_await stop();
    if (events_.load) co_await tell_load();
  }

  // Every 10 s, first when the wall clock tells a multiple of them; later it may be put elsewhere.
  asio::awaitable<void> tell_load() {
    constexpr std::chrono::seconds kEvery(10);
    asio::steady_timer pause(io_);
    auto next = std::chrono::steady_clock::now() +
                (kEvery - std::chrono::system_clock::now().time_since_epoch() % kEvery);
    for (;; next = std::max(next + kEvery, std::chrono::steady_clock::now())) {
      pause.expires_at(next);
      co_await pause.async_wait(asio::use_awaitable);
      std::map<std::string, LoadFigures> loads;
      for (const auto& [name, entry] : models_.entries()) loads[name] = entry.meter->load();
      events_.load(loads);
    }
  }

  asio::awaitable<void> stop_on_flag() {
    asio::steady_timer pause(io_);
    while (!settings_.stop->load()) {
      pause.expires_after(std::chrono::milliseconds(20));
      co_await pause.async_wait(asio::use_awaitable);
    }
    co_await stop();
  }

  asio::awaitable<void> stop_on_signal() {
    co_await stop_signals_.async_wait(asio::use_awaitable);
    stop_signals_.clear();
    std::signal(SIGTERM, SIG_DFL);
    std::signal(SIGINT, SIG_DFL);
    co_await stop();
  }

  // What is accepted is answered within the grace, also to clients of models that are there where another
  // could not be loaded.
  asio::awaitable<void> stop() {
    if (api_.is_draining()) co_return;
    spdlog::info("stopping once the requests that are here are answered");
    api_.drain();
    asio::steady_timer pause(io_);
    const auto end = ServeTime::clock::now() + settings_.grace;
    const auto send = end - std::min(kSendAnswers, settings_.grace / 2);
    while (api_.counts().answered < api_.counts().accepted && ServeTime::clock::now() < send) {
      pause.expires_after(std::chrono::milliseconds(5));
      co_await pause.async_wait(asio::use_awaitable);
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - ServeTime::clock::now());
    co_await http_.stop(std::clamp(left, std::chrono::milliseconds(0), kSendAnswers));
    io_.stop();
  }

  asio::awaitable<void> reload_on_signal() {
    while (true) {
      co_await load_signals_.async_wait(asio::use_awaitable);
      if (api_.is_draining()) continue;
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
  const ServerEvents& events_;
  asio::io_context io_{1};
  ModelRegistry models_;
  ServeApi api_;
  HttpServer http_;
  asio::signal_set stop_signals_{io_};
  asio::signal_set load_signals_{io_, SIGHUP};
  std::exception_ptr failure_;
};

std::unique_ptr<Server> listening(const ServerSettings& settings, LoadModel load,
                                  const ServerEvents& events) {
  try {
    return std::make_unique<Server>(settings, std::move(load), events);
  } catch (const AddressTaken& taken) {
    throw Failure(WorkerExit::address_in_use, taken.what());
  }
}

}  // namespace

void serve(const ServerSettings& settings, LoadModel load, const ServerEvents& events) {
  std::signal(SIGPIPE, SIG_IGN);
  std::unique_ptr<Server> server = listening(settings, std::move(load), events);
  events.listening("http://" + server->address());
  const std::exception_ptr failure = server->run();
  if (server->at_work()) {
    leave_threads_behind();
    static_cast<void>(server.release());
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace podium
