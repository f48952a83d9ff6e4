// bench_gateway: the gateway in front of replicas that answer at once, each a server on a thread of its own.
// Prints {"gateway": PORT, "replicas": [PORT, …]} once all are ready, and ends with its standard input.
#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <condition_variable>
#include <iostream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "common/net/http_server.h"
#include "coordinator/serving/gateway.h"

namespace podium {
namespace {

using nlohmann::json;

class InstantReplica {
 public:
  InstantReplica() : server_(io_.get_executor(), {}, answer), thread_([this] { io_.run(); }) {}
  ~InstantReplica() {
    io_.stop();
    thread_.join();
  }

  std::uint16_t port() const { return server_.port(); }

 private:
  static boost::asio::awaitable<ServerReply> answer(ServerRequest request) {
    ServerReply reply;
    reply.headers.set("Content-Type", "application/json");
    reply.body = request.target == "/v1/load" ? R"({"models": {"answers": {"requests_per_second": 0}}})"
                                              : R"({"label": "positive", "probability": 0.98})";
    co_return reply;
  }

  struct Started : HttpServer {
    Started(boost::asio::any_io_executor executor, ServerOptions options, HttpHandler handler)
        : HttpServer(std::move(executor), std::move(options), std::move(handler)) {
      start();
    }
  };

  boost::asio::io_context io_{1};
  Started server_;
  std::thread thread_;
};

int run(int count) {
  std::vector<InstantReplica> replicas(static_cast<std::size_t>(count));
  std::mutex mutex;
  std::condition_variable changed;
  int ready = 0;
  Gateway gateway({}, [&](const ReplicasHealth& health) {
    const std::lock_guard lock(mutex);
    ready = static_cast<int>(std::ranges::count_if(health, [](const auto& one) { return one.second.ready; }));
    changed.notify_all();
  });
  std::vector<ReplicaPlace> places;
  json ports = json::array();
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    places.push_back(
        {{JobId{static_cast<std::int64_t>(i) + 1}, 1}, "answers", {"127.0.0.1", replicas[i].port()}, ""});
    ports.push_back(replicas[i].port());
  }
  gateway.set_replicas(places, {"answers"});
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return ready == count; });
  }
  std::cout << json{{"gateway", parse_url(gateway.address()).value().port}, {"replicas", ports}} << std::endl;
  while (std::cin.get() != EOF) {
  }
  gateway.stop(std::chrono::milliseconds(0));
  return 0;
}

}  // namespace
}  // namespace podium

int main(int argc, char** argv) {
  CLI::App app("The gateway in front of replicas that answer at once");
  int replicas = 2;
  app.add_option("--replicas", replicas)->check(CLI::Range(1, 64));
  CLI11_PARSE(app, argc, argv);
  return podium::run(replicas);
}
