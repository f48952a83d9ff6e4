#include "worker/serve/serve_api.h"

#include <spdlog/fmt/fmt.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <nlohmann/json.hpp>

#include "common/net/access.h"
#include "common/net/problem.h"
#include "common/net/run_on.h"
#include "common/net/token.h"
#include "common/net/url.h"
#include "common/spec/json_body.h"
#include "worker/serve/model_folder.h"
#include "worker/serve/serve_replies.h"

namespace podium {
namespace {

namespace asio = boost::asio;
using asio::awaitable;
using nlohmann::json;
using Path = std::vector<std::string>;

constexpr std::string_view kLoad = ":load";

bool is_open(const Path& path) { return path == Path{"healthz"} || path == Path{"readyz"}; }

bool is_read(const Path& path) {
  return is_open(path) || path == Path{"metrics"} || path == Path{"v1", "models"};
}

// "NAME:load", the last of /v1/models/NAME:load, as the name.
std::optional<std::string> name_to_load(const Path& path) {
  if (path.size() != 3 || !path[2].ends_with(kLoad)) return std::nullopt;
  return path[2].substr(0, path[2].size() - kLoad.size());
}

bool is_of_model(const Path& path) {
  return path.size() >= 3 && path[0] == "v1" && path[1] == "models" &&
         (path.size() == 4 || name_to_load(path));
}

std::string outcome_of(int status) {
  switch (status) {
    case 200:
      return "answered";
    case 429:
      return "queue_full";
    case 500:
      return "failed";
    case 503:
      return "not_ready";
    case 504:
      return "timed_out";
  }
  return "refused";
}

ServerReply queue_full(const BatchEngine& engine, const std::string& request_id) {
  ServerReply reply = problem(429, "the model's queue is full; try again later", request_id);
  reply.headers.set("Retry-After", std::to_string(engine.retry_after().count()));
  return reply;
}

}  // namespace

ServeApi::ServeApi(asio::any_io_executor executor, ModelRegistry& models, ServeOptions options)
    : executor_(std::move(executor)), models_(models), options_(std::move(options)) {}

std::optional<ServerReply> ServeApi::refuse(const ServerRequest& head) const {
  if (options_.check_host)
    if (std::optional<ServerReply> refusal = refuse_rebound_host(head)) return refusal;
  const Result<Target> target = parse_target(head.target);
  if (!target) return problem(400, describe(target.errors()), head.id);
  const Path& path = target->segments;
  if (!options_.token.empty() && !is_open(path)) {
    const std::optional<std::string_view> token = bearer_token(head);
    if (!token) return problem(401, "this needs a token: send \"Authorization: Bearer TOKEN\"", head.id);
    if (!equal_in_constant_time(*token, options_.token)) return problem(401, "the token is wrong", head.id);
  }
  if (!is_read(path) && !is_of_model(path))
    return problem(404, "there is no " + head.target.substr(0, 200) + "; GET /v1/models lists what is",
                   head.id);
  const std::string_view method = is_read(path) ? "GET" : "POST";
  if (head.method != method && !(head.method == "HEAD" && method == "GET")) {
    ServerReply reply =
        problem(405, head.method + " is not possible here; " + std::string(method) + " is", head.id);
    reply.headers.set("Allow", std::string(method));
    return reply;
  }
  if (method == "POST" && !is_json(head.headers.get("Content-Type")))
    return problem(415, "the body must be application/json; say so in Content-Type", head.id);
  return std::nullopt;
}

awaitable<ServerReply> ServeApi::answer(ServerRequest request) {
  Path path = parse_target(request.target).value().segments;  // refuse() has seen it
  return route(std::move(request), std::move(path));
}

awaitable<ServerReply> ServeApi::route(ServerRequest request, Path path) {
  if (path == Path{"healthz"}) co_return text_reply("ok\n");
  if (path == Path{"readyz"}) co_return readiness(request.id);
  if (path == Path{"metrics"}) co_return metrics();
  if (path == Path{"v1", "models"}) co_return model_list();
  const std::string id = request.id;
  if (const auto name = name_to_load(path)) co_return co_await load_model(std::move(request), *name);
  const Asked asked{models_.find(path[2]), find_endpoint(path[3])};
  if (!asked.entry)
    co_return problem(
        404, fmt::format("there is no model {}; there is {}", path[2].substr(0, 200), models_.names()), id);
  if (!asked.endpoint)
    co_return problem(
        404, fmt::format("a model has no {}; it has {}", path[3].substr(0, 200), endpoint_names()), id);
  co_return co_await ask_model(std::move(request), asked);
}

awaitable<ServerReply> ServeApi::ask_model(ServerRequest request, Asked asked) {
  if (draining_) co_return problem(503, "the server is about to stop", request.id);
  const ServeTime arrived = std::chrono::steady_clock::now();
  const std::shared_ptr<ServeMeter> meter = asked.entry->meter;
  const std::string name(asked.endpoint->name);
  const std::shared_ptr<ServedModel> model =
      asked.entry->model;  // stays for this request, whatever is loaded
  ++accepted_;
  ServerReply reply;
  if (model)
    reply = co_await compute(request, *asked.endpoint, model, arrived);
  else
    reply = problem(503, "the model is not loaded yet; try again soon", request.id);
  ++answered_;
  meter->add_request(name, outcome_of(reply.status), std::chrono::steady_clock::now() - arrived);
  co_return reply;
}

awaitable<ServerReply> ServeApi::compute(const ServerRequest& request, const Endpoint& endpoint,
                                         std::shared_ptr<ServedModel> model, ServeTime arrived) {
  const LoadedModel& loaded = model->loaded();
  BatchEngine& engine = model->engine();
  if (!endpoint.suits(loaded.weights))
    co_return problem(422,
                      fmt::format("no model that {} is served here; this one has {}", endpoint.ability,
                                  endpoint_names(&loaded.weights)),
                      request.id);
  if (!engine.has_room()) co_return queue_full(engine, request.id);
  Errors no_json;
  const auto prepare = [&]() -> Result<PreparedRequest> {
    const Result<json> body = parse_object(request.body);
    if (!body) return no_json = body.errors();
    return endpoint.prepare(*body, loaded);
  };
  const Result<PreparedRequest> prepared = co_await run_on(workers_, prepare);
  if (!no_json.empty()) co_return problem(400, detail_of(no_json), request.id, no_json);
  if (!prepared) co_return problem(prepared.errors(), request.id);
  if (prepared->sequences.size() > engine.capacity())
    co_return problem(422,
                      fmt::format("this takes {} passes, and the queue holds {}; send a shorter text",
                                  prepared->sequences.size(), engine.capacity()),
                      request.id);
  EngineRequest asked{.pass = prepared->pass,
                      .top = prepared->top,
                      .sequences = prepared->sequences,
                      .arrived = arrived,
                      .deadline = arrived + prepared->timeout.value_or(options_.timeout)};
  const std::optional<EngineResult> result = co_await wait_for(*model, std::move(asked));
  if (!result) co_return queue_full(engine, request.id);
  if (result->kind == EngineResult::Kind::expired)
    co_return problem(504,
                      "the request was not computed within its timeout; timeout_ms says how long it may take",
                      request.id);
  if (result->kind == EngineResult::Kind::failed)
    co_return problem(500, "the model could not compute this; the server's log says why", request.id);
  const auto tell = [&] { return prepared->answer(result->results); };
  co_return json_reply(co_await run_on(workers_, tell));
}

// Nothing where the queue is full. Expired once the deadline is over, whatever the engine does.
awaitable<std::optional<EngineResult>> ServeApi::wait_for(ServedModel& model, EngineRequest request) {
  struct Waiting {
    asio::steady_timer timer;
    std::optional<EngineResult> result = std::nullopt;
  };
  const auto waiting = std::make_shared<Waiting>(asio::steady_timer(executor_, request.deadline));
  request.done = [executor = executor_, waiting](EngineResult result) {
    asio::post(executor, [waiting, result = std::move(result)]() mutable {
      waiting->result = std::move(result);
      waiting->timer.cancel();
    });
  };
  if (!model.engine().submit(std::move(request))) co_return std::nullopt;
  co_await waiting->timer.async_wait(asio::as_tuple(asio::use_awaitable));
  if (!waiting->result) co_return EngineResult{.kind = EngineResult::Kind::expired};
  co_return std::move(waiting->result);
}

awaitable<ServerReply> ServeApi::load_model(ServerRequest request, std::string name) {
  if (options_.token.empty() || options_.models_root.empty())
    co_return problem(403,
                      "models are loaded where the server was started with --token-file and --models-root",
                      request.id);
  if (!models_.find(name))
    co_return problem(404,
                      fmt::format("there is no model {}; there is {}", name.substr(0, 200), models_.names()),
                      request.id);
  const Result<json> body = parse_object(request.body);
  if (!body) co_return problem(400, detail_of(body.errors()), request.id, body.errors());
  const Result<std::filesystem::path> folder = folder_to_load(*body, options_.models_root);
  if (!folder) co_return problem(folder.errors(), request.id);
  std::string failure;
  try {
    co_await models_.load(name, *folder);
  } catch (const std::exception& error) {
    failure = error.what();
  }
  if (!failure.empty()) co_return problem(422, failure + "; " + name + " answers as before", request.id);
  co_return json_reply(json{{"name", name}, {"folder", folder->string()}}.dump());
}

ServerReply ServeApi::readiness(const std::string& request_id) const {
  if (draining_) return problem(503, "the server is about to stop", request_id);
  if (!models_.ready()) return problem(503, "models are being loaded", request_id);
  return text_reply("ready\n");
}

ServerReply ServeApi::model_list() const { return json_reply(list_models(models_)); }
ServerReply ServeApi::metrics() const { return metrics_reply(models_); }

}  // namespace podium
