#include "worker/serve/serve_api.h"

#include <spdlog/fmt/fmt.h>

#include <nlohmann/json.hpp>

#include "common/net/access.h"
#include "common/net/problem.h"
#include "common/net/token.h"
#include "common/net/url.h"
#include "common/spec/json_body.h"
#include "worker/serve/answering.h"
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
  return is_open(path) || path == Path{"metrics"} || path == Path{"v1", "models"} ||
         path == Path{"v1", "load"};
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
    case 499:
      return "client_left";
    case 503:
      return "not_ready";
    case 504:
      return "timed_out";
  }
  return "refused";
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
  if (path == Path{"v1", "models"}) co_return json_reply(list_models(models_));
  if (path == Path{"v1", "load"}) co_return json_reply(list_loads(models_));
  const std::string id = request.id;
  if (const auto name = name_to_load(path)) co_return co_await load_model(std::move(request), *name);
  const ModelRegistry::Entry* entry = models_.find(path[2]);
  if (!entry)
    co_return problem(
        404, fmt::format("there is no model {}; there is {}", path[2].substr(0, 200), models_.names()), id);
  const Endpoint* endpoint = find_endpoint(path[3]);
  if (!endpoint)
    co_return problem(
        404, fmt::format("a model has no {}; it has {}", path[3].substr(0, 200), endpoint_names()), id);
  co_return co_await ask_model(std::move(request), *entry, *endpoint);
}

awaitable<ServerReply> ServeApi::ask_model(ServerRequest request, const ModelRegistry::Entry& entry,
                                           const Endpoint& endpoint) {
  if (draining_) {
    entry.meter->add_request(std::string(endpoint.name), "not_ready", {});
    co_return problem(503, "the server is about to stop", request.id);
  }
  const std::string id = request.id;
  const auto account = std::make_shared<RequestAccount>(counts_, entry.meter, std::string(endpoint.name));
  const Asked asked = std::make_shared<AskedModel>(std::move(request), entry.model, account,
                                                   account->arrived() + options_.timeout);
  const Answering with{executor_, readers_, writers_};
  ServerReply reply;
  if (!asked->model)
    reply = problem(503, "the model is not loaded yet; try again soon", id);
  else if (const LoadedModel& loaded = asked->model->loaded(); !endpoint.suits(loaded))
    reply = problem(
        422, fmt::format("the model has no {}; it has {}", endpoint.name, endpoint_names(&loaded)), id);
  else if (endpoint.prepare)
    reply = co_await answer_in_batches(with, asked, endpoint);
  else
    reply = co_await answer_with_text(with, asked);
  if (!reply.next_piece)
    account->set_outcome(outcome_of(reply.status));  // a stream says later what becomes of it
  co_return reply;
}

awaitable<ServerReply> ServeApi::load_model(ServerRequest request, std::string name) {
  if (options_.token.empty() || options_.models_root.empty())
    co_return problem(403,
                      "models are loaded where the server was started with --token-file and --models-root",
                      request.id);
  if (draining_) co_return problem(503, "the server is about to stop", request.id);
  const AcceptedRequest accepted(counts_);
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

ServerReply ServeApi::metrics() const { return metrics_reply(models_, draining_); }

}  // namespace podium
