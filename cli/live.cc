#include "cli/live.h"

#include <spdlog/fmt/fmt.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>

namespace podium::cli {
namespace {

namespace asio = boost::asio;
using asio::awaitable;
using nlohmann::json;
using namespace std::chrono_literals;

constexpr auto kAnswerTimeout = 10s;
constexpr auto kIdleTimeout = 40s;  // the server sends a comment every 15 s
constexpr auto kPause = 1s;         // between two tries
constexpr auto kTick = 200ms;
constexpr auto kLook = 500ms;

// Arguments of coroutines are named variables here: GCC 12 can destroy a temporary of a co_await expression
// twice.
class Watch {
 public:
  Watch(asio::io_context& loop, const Client& client, std::int64_t id, const LiveHandlers& handlers)
      : loop_(loop),
        api_(client),
        id_(id),
        handlers_(handlers),
        http_(loop.get_executor(), client.server(), client.options()) {}

  awaitable<void> run() {
    bool reached = false;
    while (true) {
      std::string trouble;
      try {
        if (!co_await refresh()) co_return;
        reached = true;
        if (co_await stream()) co_return;
      } catch (const NetError& error) {
        if (!reached)
          throw Failure(Exit::unreachable, fmt::format("cannot reach the coordinator at {}. Is it running?",
                                                       api_.cause_of(error)));
        trouble = api_.cause_of(error);
      }
      if (!trouble.empty()) handlers_.on_trouble(trouble);
      asio::steady_timer pause(loop_, kPause);
      co_await pause.async_wait(asio::use_awaitable);
    }
  }

 private:
  awaitable<json> get(std::string path) {
    const HttpRequest ask = api_.request("GET", path);
    const HttpResponse response = co_await http_.request(ask, kAnswerTimeout);
    if (response.status < 500) require_ok(response);
    if (!response.ok())
      throw NetError(NetFailure::broken, fmt::format("the coordinator answered {}", response.status));
    co_return json::parse(response.body);
  }

  // The job as it is now; false when on_job has had enough. The stream's position is taken first: what
  // happens from then on is in the stream.
  awaitable<bool> refresh() {
    if (last_id_.empty()) {
      const std::string path = "/health";
      const json health = co_await get(path);
      last_id_ = health.value("live_id", json(0)).dump();
      if (std::exchange(missed_, false)) handlers_.on_reset();
    }
    const std::string path = fmt::format("/jobs/{}", id_);
    const json job = co_await get(path);
    co_return handlers_.on_job(job);
  }

  // True when on_job has had enough; false when the stream ended or there is none.
  awaitable<bool> stream() {
    HttpRequest live = api_.request("GET", "/live", {{"job", std::to_string(id_)}});
    live.headers.set("Accept", "text/event-stream");
    live.headers.set("Last-Event-ID", last_id_);
    ServerEventParser parser;
    const std::function<bool(std::string_view)> on_data = [&](std::string_view bytes) {
      parser.feed(bytes);
      while (const auto event = parser.next())
        if (!take(*event)) return false;
      return true;
    };
    co_await http_.stream(live, kIdleTimeout, on_data);
    co_return had_enough_;
  }

  // False to leave the stream.
  bool take(const ServerEvent& event) {
    missed_ = event.name == "reset";
    last_id_ = missed_ ? "" : event.id.empty() ? last_id_ : event.id;
    if (missed_) return false;
    if (event.name == "metrics") handlers_.on_metrics(json::parse(event.data));
    if (event.name == "job") had_enough_ = !handlers_.on_job(json::parse(event.data));
    return !had_enough_;
  }

  asio::io_context& loop_;
  const Client& api_;
  std::int64_t id_;
  const LiveHandlers& handlers_;
  HttpClient http_;
  std::string last_id_;
  bool missed_ = false;  // messages, since the position that was asked for
  bool had_enough_ = false;
};

awaitable<void> tick(asio::io_context& loop, const LiveHandlers& handlers) {
  asio::steady_timer timer(loop);
  while (true) {
    timer.expires_after(kTick);
    co_await timer.async_wait(asio::use_awaitable);
    handlers.on_tick();
  }
}

awaitable<void> look(asio::io_context& loop, const Client& client, const LiveHandlers& handlers) {
  Connection connection(loop.get_executor(), client);
  asio::steady_timer timer(loop);
  while (true) {
    timer.expires_after(kLook);
    co_await timer.async_wait(asio::use_awaitable);
    co_await handlers.on_look(connection);
  }
}

}  // namespace

Exit watch_job(const Client& client, std::int64_t id, const LiveHandlers& handlers) {
  asio::io_context loop(1);
  std::exception_ptr failure;
  const auto leave = [&](std::exception_ptr error) {
    failure = error;
    loop.stop();
  };
  Watch watch(loop, client, id, handlers);
  asio::co_spawn(loop, tick(loop, handlers), leave);
  asio::co_spawn(loop, look(loop, client, handlers), leave);
  const bool ended = run_unless_interrupted(loop, watch.run());
  if (failure) std::rethrow_exception(failure);
  return ended ? Exit::ok : Exit::interrupted;
}

}  // namespace podium::cli
