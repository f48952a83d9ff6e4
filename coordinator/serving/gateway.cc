#include "coordinator/serving/gateway.h"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "common/net/access.h"
#include "common/net/http_server.h"
#include "common/net/problem.h"
#include "common/net/spawn.h"
#include "common/net/token.h"
#include "coordinator/serving/replica_link.h"

namespace podium {
namespace {

namespace asio = boost::asio;
using nlohmann::json;

constexpr std::chrono::seconds kTellHealth{1};
constexpr std::uint64_t kMostBody = std::uint64_t{1} << 20;  // as podium-worker serve
constexpr std::uint64_t kMostBodies = std::uint64_t{64} << 20;
constexpr std::size_t kMostConnections = 4096;
constexpr std::size_t kLongestNamed = 100;  // bytes of a service that does not exist
constexpr char kProblemType[] = "application/problem+json";

ServerOptions server_options(const HostPort& listen) {
  ServerOptions options;
  options.listen = listen;
  options.max_body = kMostBody;
  options.max_bodies = kMostBodies;
  options.max_connections = kMostConnections;
  options.watch_clients = true;
  options.body_timeout = std::chrono::seconds(10);
  return options;
}

// What the replica is asked. Fields of a connection stay behind.
HttpRequest forwarded(const ServerRequest& request, const std::string& service, const std::string& endpoint) {
  HttpRequest out;
  out.method = "POST";
  out.target = "/v1/models/" + encode_component(service) + "/" + encode_component(endpoint);
  if (const std::string* type = request.headers.find("Content-Type")) out.headers.set("Content-Type", *type);
  out.body = request.body;
  return out;
}

ServerReply unavailable(const std::string& why, const std::string& request_id) {
  ServerReply reply = problem(503, why, request_id);
  reply.headers.set("Retry-After", "1");
  return reply;
}

// A replica's answer, as that to this request.
std::string under_id(std::string body, const std::string& type, const std::string& request_id) {
  if (type != kProblemType) return body;
  json told = json::parse(body, nullptr, false);
  if (!told.is_object()) return body;
  told["request_id"] = request_id;
  return told.dump(-1, ' ', false, json::error_handler_t::replace);
}

// Another replica may do what this one could not.
bool ask_another(const Relay::Begun& begun) {
  const int status = begun.response.status;
  return !begun.failure.empty() || status == 429 || status == 503 || status == 401;
}

}  // namespace

class Gateway::Impl {
 public:
  Impl(GatewayOptions options, std::function<void(const ReplicasHealth&)> on_health)
      : options_(std::move(options)),
        on_health_(std::move(on_health)),
        tell_health_(io_),
        server_(io_.get_executor(), server_options(options_.listen),
                [this](ServerRequest request) { return answer(std::move(request)); },
                {.check = [this](const ServerRequest& head) { return refuse(head); }}) {
    server_.start();
    spawn(io_.get_executor(), "the health of replicas", tell_health());
    thread_ = std::thread([this] { io_.run(); });
  }

  std::string address() const { return "http://" + HostPort{options_.listen.host, server_.port()}.text(); }

  void set_replicas(std::vector<ReplicaPlace> replicas, std::vector<std::string> services) {
    asio::post(io_, [this, replicas = std::move(replicas), services = std::move(services)]() mutable {
      services_ = std::move(services);
      told_ = true;
      update(replicas);
    });
  }

  Requests requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

  void stop(std::chrono::milliseconds grace) {
    if (!thread_.joinable()) return;
    asio::co_spawn(io_, end(grace), asio::use_future).get();
    io_.stop();
    thread_.join();
  }

 private:
  using Links = std::map<AttemptId, std::shared_ptr<ReplicaLink>>;

  void update(const std::vector<ReplicaPlace>& replicas);
  std::optional<ServerReply> refuse(const ServerRequest& head) const;
  asio::awaitable<ServerReply> answer(ServerRequest request);
  asio::awaitable<ServerReply> ask(ServerRequest request, std::string service, std::string endpoint);
  ServerReply tell(const std::string& service, const std::string& request_id) const;
  std::shared_ptr<ReplicaLink> least_loaded(const std::string& service, const std::set<AttemptId>& except);
  bool knows(const std::string& service) const { return std::ranges::count(services_, service) > 0; }
  asio::awaitable<void> tell_health();
  asio::awaitable<void> end(std::chrono::milliseconds grace);

  GatewayOptions options_;
  std::function<void(const ReplicasHealth&)> on_health_;
  asio::io_context io_{1};
  asio::steady_timer tell_health_;
  bool stopping_ = false;
  Links links_;
  std::vector<std::string> services_;
  bool told_ = false;         // of them
  std::size_t turns_ = 0;     // of replicas that are equally loaded
  mutable std::mutex mutex_;  // guards the next
  Requests requests_;
  HttpServer server_;
  std::thread thread_;
};

void Gateway::Impl::update(const std::vector<ReplicaPlace>& replicas) {
  Links kept;
  for (const ReplicaPlace& place : replicas) {
    if (const auto known = links_.find(place.attempt); known != links_.end()) {
      kept.insert(links_.extract(known));
      continue;
    }
    const auto link = std::make_shared<ReplicaLink>(io_.get_executor(), place);
    link->start();
    kept.emplace(place.attempt, link);
  }
  for (const auto& [attempt, link] : links_) link->retire();
  links_ = std::move(kept);
}

std::optional<ServerReply> Gateway::Impl::refuse(const ServerRequest& head) const {
  if (options_.check_host)
    if (auto reply = refuse_rebound_host(head)) return reply;
  if (options_.tokens.empty() || head.target == "/healthz") return std::nullopt;
  const std::optional<std::string_view> token = bearer_token(head);
  if (!token) return problem(401, "this needs a token: send \"Authorization: Bearer TOKEN\"", head.id);
  bool known = false;
  for (const std::string& one : options_.tokens) known = equal_in_constant_time(*token, one) || known;
  return known ? std::nullopt : std::optional(problem(401, "the token is wrong", head.id));
}

asio::awaitable<ServerReply> Gateway::Impl::answer(ServerRequest request) {
  const Result<Target> target = parse_target(request.target);
  if (!target) co_return problem(target.errors(), request.id);
  std::vector<std::string> path = target->segments;
  if (path == std::vector<std::string>{"healthz"}) co_return ServerReply{};
  if (path.empty() || path.size() > 2)
    co_return problem(404, "no such path; POST /SERVICE/ENDPOINT asks a service", request.id);
  if (!told_) co_return unavailable("the services are not known yet", request.id);
  if (!knows(path[0])) {
    std::string names;
    for (const std::string& name : services_) names += (names.empty() ? "" : ", ") + name;
    co_return problem(404,
                      "there is no service \"" + path[0].substr(0, kLongestNamed) + "\"; there " +
                          (names.empty() ? "is none" : "are: " + names),
                      request.id);
  }
  const char* const method = path.size() == 1 ? "GET" : "POST";
  if (request.method != method) {
    ServerReply reply = problem(405, std::string("only ") + method + " is known of this path", request.id);
    reply.headers.set("Allow", method);
    co_return reply;
  }
  if (path.size() == 1) co_return tell(path[0], request.id);
  ServerReply reply = co_await ask(std::move(request), path[0], path[1]);
  const std::lock_guard lock(mutex_);
  ++requests_[{path[0], reply.status}];
  co_return reply;
}

ServerReply Gateway::Impl::tell(const std::string& service, const std::string& request_id) const {
  int ready = 0, known = 0, in_flight = 0;
  for (const auto& [attempt, link] : links_) {
    if (link->place().service != service) continue;
    ++known;
    ready += link->takes_requests() ? 1 : 0;
    in_flight += link->in_flight();
  }
  ServerReply reply;
  reply.status = ready > 0 ? 200 : 503;
  reply.headers = {{"Content-Type", "application/json"}, {"X-Request-Id", request_id}};
  reply.body = json{{"replicas", known}, {"ready", ready}, {"in_flight", in_flight}}.dump();
  return reply;
}

std::shared_ptr<ReplicaLink> Gateway::Impl::least_loaded(const std::string& service,
                                                         const std::set<AttemptId>& except) {
  std::vector<std::shared_ptr<ReplicaLink>> best;
  for (const auto& [attempt, link] : links_) {
    if (link->place().service != service || !link->takes_requests() || except.contains(attempt)) continue;
    if (!best.empty() && link->in_flight() > best.front()->in_flight()) continue;
    if (!best.empty() && link->in_flight() < best.front()->in_flight()) best.clear();
    best.push_back(link);
  }
  return best.empty() ? nullptr : best[turns_++ % best.size()];
}

asio::awaitable<ServerReply> Gateway::Impl::ask(ServerRequest request, std::string service,
                                                std::string endpoint) {
  constexpr int kTries = 2;  // of replicas that were ready
  std::optional<Relay::Begun> last;
  std::set<AttemptId> asked;
  for (int tries = 0; tries < kTries;) {
    const std::shared_ptr<ReplicaLink> replica = least_loaded(service, asked);
    if (!replica) break;
    asked.insert(replica->place().attempt);
    const auto relay = std::make_shared<Relay>(io_.get_executor(), request.id);
    replica->ask(forwarded(request, service, endpoint), relay);
    const std::shared_ptr<ClientWatch> client = request.client;
    client->on_leave([relay] { relay->leave(); });
    last = co_await relay->begun();
    if (client->has_left()) co_return problem(499, "the client has left", request.id);
    if (!last->events) client->on_leave({});
    if (last->events) {
      ServerReply reply;
      reply.headers = {{"Content-Type", last->response.headers.get("Content-Type")},
                       {"X-Request-Id", request.id}};
      reply.next_piece = [relay] { return relay->next(); };
      co_return reply;
    }
    if (!ask_another(*last)) break;
    if (last->response.status == 503)
      replica->doubt();
    else
      ++tries;
  }
  if (!last || !last->failure.empty() || last->response.status == 401) {
    const std::string why = last && !last->failure.empty() ? ": " + last->failure : "";
    co_return unavailable("no replica of " + service + (last ? " could answer" + why : " is ready"),
                          request.id);
  }
  ServerReply reply;
  reply.status = last->response.status;
  reply.body =
      under_id(std::move(last->response.body), last->response.headers.get("Content-Type"), request.id);
  for (const char* const name : {"Content-Type", "Retry-After"})
    if (const std::string* value = last->response.headers.find(name)) reply.headers.set(name, *value);
  reply.headers.set("X-Request-Id", request.id);
  co_return reply;
}

asio::awaitable<void> Gateway::Impl::tell_health() {
  while (!stopping_) {
    ReplicasHealth health;
    for (const auto& [attempt, link] : links_) health.emplace(attempt, link->health());
    on_health_(health);
    tell_health_.expires_after(kTellHealth);
    co_await tell_health_.async_wait(asio::as_tuple(asio::use_awaitable));
  }
}

asio::awaitable<void> Gateway::Impl::end(std::chrono::milliseconds grace) {
  stopping_ = true;
  tell_health_.cancel();
  co_await server_.stop(grace);
  for (const auto& [attempt, link] : links_) link->close();
  links_.clear();
}

Gateway::Gateway(GatewayOptions options, std::function<void(const ReplicasHealth&)> on_health)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(on_health))) {}

Gateway::~Gateway() { stop(std::chrono::milliseconds(0)); }

std::string Gateway::address() const { return impl_->address(); }

void Gateway::set_replicas(std::vector<ReplicaPlace> replicas, std::vector<std::string> services) {
  impl_->set_replicas(std::move(replicas), std::move(services));
}

Gateway::Requests Gateway::requests() const { return impl_->requests(); }

void Gateway::stop(std::chrono::milliseconds grace) { impl_->stop(grace); }

}  // namespace podium
