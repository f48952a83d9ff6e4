#include "coordinator/api/router.h"

#include <set>

#include "common/net/gzip.h"
#include "common/net/problem.h"
#include "common/net/url.h"
#include "coordinator/api/artifacts.h"
#include "coordinator/api/compression.h"
#include "coordinator/api/guard.h"
#include "coordinator/api/mlflow.h"
#include "coordinator/api/reply.h"
#include "coordinator/api/resolved.h"
#include "coordinator/api/resources.h"
#include "coordinator/api/static_files.h"
#include "coordinator/mlflow/error.h"

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

// Only POST has a body, and a PUT of artifacts.
bool has_stray_body(const ServerRequest& head) {
  const std::string length = head.headers.get("Content-Length");
  return head.method != "POST" &&
         ((!length.empty() && length != "0") || head.headers.find("Transfer-Encoding"));
}

Resolved resolve_api(const Api& api, const ServerRequest& head, Target target) {
  const std::string method = head.method == "HEAD" ? "GET" : head.method;
  std::set<std::string> methods;
  for (const Route& route : routes()) {
    std::optional<std::vector<std::string>> values = match(route.pattern, target.segments);
    if (!values) continue;
    methods.emplace(route.method);
    if (route.method == "GET") methods.emplace("HEAD");
    if (route.method != method) continue;
    if (std::optional<ServerReply> refusal = refuse_access(api.options, route.audience, head))
      return refused(std::move(*refusal));
    return {std::nullopt, route.answer, std::move(*values), std::move(target)};
  }
  if (!methods.empty()) return refused(not_this_method(methods, head));
  return refused(
      problem(404, "there is no " + head.target.substr(0, 200) + "; GET /api/v1/openapi.yaml lists what is",
              head.id));
}

bool is_api(const std::vector<std::string>& segments) {
  return segments.size() >= 2 && segments[0] == "api" && segments[1] == "v1";
}

Resolved resolve(const Api& api, const ServerRequest& head) {
  if (std::optional<ServerReply> refusal = refuse_host(api.options, head))
    return refused(std::move(*refusal));
  Result<Target> parsed = parse_target(head.target);
  if (!parsed) return refused(problem(400, describe(parsed.errors()), head.id));
  Target target = std::move(parsed).value();
  const bool artifacts = is_of_artifacts(target.segments);
  if (has_stray_body(head) && !(artifacts && head.method == "PUT"))
    return refused(problem(400, "a " + head.method + " has no body here", head.id));
  if (artifacts) return resolve_artifacts(api, head, std::move(target));
  if (is_api(target.segments)) return resolve_api(api, head, std::move(target));
  if (head.method != "GET" && head.method != "HEAD") return refused(not_this_method({"GET", "HEAD"}, head));
  if (target.segments != std::vector<std::string>{"metrics"})
    return {std::nullopt, nullptr, {}, std::move(target)};
  // Prometheus looks here by custom.
  if (std::optional<ServerReply> refusal = refuse_access(api.options, Audience::read, head))
    return refused(std::move(*refusal));
  return {std::nullopt, get_prometheus, {}, std::move(target)};
}

awaitable<ServerReply> answer_any(Api& api, ServerRequest request) {
  Resolved resolved = resolve(api, request);
  if (resolved.refusal) co_return std::move(*resolved.refusal);
  if (!resolved.answer)
    co_return co_await answer_file(api, std::move(request), std::move(resolved.target.segments));
  Call call{std::move(request), std::move(resolved.path), Query(std::move(resolved.target.query))};
  const bool reads = call.request.method == "GET" || call.request.method == "HEAD";
  if (!reads && !call.query.problems().empty())
    co_return bad_query(call);  // what changes things asks for none
  const bool packed = accepts_gzip(call.request.headers);
  ServerReply reply = co_await resolved.answer(api, std::move(call));
  co_return co_await compressed(api, packed, std::move(reply));
}

}  // namespace

std::optional<ServerReply> refuse_request(Api& api, const ServerRequest& head) {
  if (mlflow::is_mlflow(head.target)) return mlflow::refuse(api, head);
  std::optional<ServerReply> refusal = std::move(resolve(api, head).refusal);
  if (refusal) count_answer(api, head.method, refusal->status);
  return refusal;
}

std::shared_ptr<RequestSink> sink_of_request(Api& api, const ServerRequest& head) {
  if (head.method != "PUT") return nullptr;
  Resolved resolved = resolve(api, head);
  return resolved.sink ? resolved.sink(api, head, std::move(resolved.path)) : nullptr;
}

ServerReply form_reply(const ServerRequest& head, ServerReply reply) {
  return head.target.starts_with("/api/2.0/mlflow") ? mlflow::in_mlflow_form(std::move(reply)) : reply;
}

void count_answer(Api& api, const std::string& method, int status) {
  static const std::set<std::string> known{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"};
  ++api.requests[{known.contains(method) ? method : "other", status}];
}

awaitable<ServerReply> answer_request(Api& api, ServerRequest request) {
  if (mlflow::is_mlflow(request.target)) co_return co_await mlflow::answer(api, std::move(request));
  const std::string method = request.method;
  const std::string id = request.id;
  ServerReply reply;
  try {
    reply = co_await answer_any(api, std::move(request));
  } catch (const Busy& busy) {
    reply = problem(503, busy.what(), id);
  } catch (const NotDurable& error) {
    reply = problem(503, error.what(), id);
  }
  count_answer(api, method, reply.status);
  co_return reply;
}

}  // namespace podium
