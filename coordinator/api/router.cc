#include "coordinator/api/router.h"

#include <set>

#include "common/net/problem.h"
#include "common/net/url.h"
#include "coordinator/api/guard.h"
#include "coordinator/api/resources.h"
#include "coordinator/api/static_files.h"

namespace podium {
namespace {

std::vector<std::string_view> split(std::string_view pattern) {
  std::vector<std::string_view> parts;
  while (!pattern.empty()) {
    pattern.remove_prefix(1);  // the slash
    const std::size_t end = std::min(pattern.find('/'), pattern.size());
    parts.push_back(pattern.substr(0, end));
    pattern.remove_prefix(end);
  }
  return parts;
}

// The values of the pattern's {…}, or nothing when the path is another.
std::optional<std::vector<std::string>> match(std::string_view pattern,
                                              const std::vector<std::string>& path) {
  const std::vector<std::string_view> parts = split(pattern);
  if (parts.size() + 2 != path.size()) return std::nullopt;  // after "api", "v1"
  std::vector<std::string> values;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].front() == '{')
      values.push_back(path[i + 2]);
    else if (parts[i] != path[i + 2])
      return std::nullopt;
  }
  return values;
}

std::string joined(const std::set<std::string>& methods) {
  std::string text;
  for (const std::string& method : methods) text += (text.empty() ? "" : ", ") + method;
  return text;
}

ServerReply not_this_method(const std::set<std::string>& methods, const ServerRequest& request) {
  ServerReply reply;
  if (request.method == "OPTIONS")
    reply.status = 204;
  else
    reply = problem(405, request.method + " is not possible here; " + joined(methods) + " is", request.id);
  reply.headers.set("Allow", joined(methods));
  return reply;
}

awaitable<ServerReply> answer_api(Api& api, ServerRequest request, Target target) {
  const std::string method = request.method == "HEAD" ? "GET" : request.method;
  std::set<std::string> methods;
  for (const Route& route : routes()) {
    std::optional<std::vector<std::string>> values = match(route.pattern, target.segments);
    if (!values) continue;
    methods.emplace(route.method);
    if (route.method == "GET") methods.emplace("HEAD");
    if (route.method != method) continue;
    if (std::optional<ServerReply> refusal = refuse_access(api.options, route.access, request))
      co_return std::move(*refusal);
    Call call{std::move(request), std::move(*values), Query(std::move(target.query))};
    co_return co_await route.answer(api, std::move(call));
  }
  if (!methods.empty()) co_return not_this_method(methods, request);
  co_return problem(
      404, "there is no " + request.target.substr(0, 200) + "; GET /api/v1/openapi.yaml lists what is",
      request.id);
}

// Where Prometheus looks by custom.
awaitable<ServerReply> answer_metrics(Api& api, ServerRequest request, Target target) {
  if (request.method != "GET" && request.method != "HEAD")
    co_return not_this_method({"GET", "HEAD"}, request);
  if (std::optional<ServerReply> refusal = refuse_access(api.options, Access::read, request))
    co_return std::move(*refusal);
  Call call{std::move(request), {}, Query(std::move(target.query))};
  co_return co_await get_prometheus(api, std::move(call));
}

bool is_api(const std::vector<std::string>& segments) {
  return segments.size() >= 2 && segments[0] == "api" && segments[1] == "v1";
}

awaitable<ServerReply> answer_any(Api& api, ServerRequest request) {
  if (std::optional<ServerReply> refusal = refuse_host(api.options, request)) co_return std::move(*refusal);
  Result<Target> parsed = parse_target(request.target);
  if (!parsed) co_return problem(400, describe(parsed.errors()), request.id);
  Target target = std::move(parsed).value();
  if (is_api(target.segments)) co_return co_await answer_api(api, std::move(request), std::move(target));
  if (target.segments == std::vector<std::string>{"metrics"})
    co_return co_await answer_metrics(api, std::move(request), std::move(target));
  if (request.method != "GET" && request.method != "HEAD")
    co_return not_this_method({"GET", "HEAD"}, request);
  co_return co_await answer_file(api, std::move(request), std::move(target.segments));
}

}  // namespace

awaitable<ServerReply> answer_request(Api& api, ServerRequest request) {
  static const std::set<std::string> known{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"};
  const std::string method = known.contains(request.method) ? request.method : "other";
  ServerReply reply = co_await answer_any(api, std::move(request));
  ++api.requests[{method, reply.status}];
  co_return reply;
}

}  // namespace podium
