#include "coordinator/api/guard.h"

#include "common/net/access.h"
#include "common/net/problem.h"
#include "common/net/token.h"
#include "coordinator/mlflow/run_token.h"

namespace podium {
namespace {

enum class Caller { nobody, stranger, user, agent, run };

Caller caller_with(const ApiOptions& options, const std::optional<std::string_view>& token) {
  if (!token) return Caller::nobody;
  if (equal_in_constant_time(*token, options.user_token)) return Caller::user;
  if (equal_in_constant_time(*token, options.agent_token)) return Caller::agent;
  if (mlflow::job_of_token(*token, options.cluster, options.run_key)) return Caller::run;
  return Caller::stranger;
}

std::optional<std::string> tracking_token(const ServerRequest& request) {
  if (const auto bearer = bearer_token(request)) return std::string(*bearer);
  return basic_password(request);
}

bool may(const ApiOptions& options, Audience audience, Caller caller) {
  switch (audience) {
    case Audience::open:
      return true;
    case Audience::read:  // a wrong token is told of where none is needed
      return (options.open_reads && caller == Caller::nobody) || caller == Caller::user ||
             caller == Caller::agent;
    case Audience::user:
      return caller == Caller::user;
    case Audience::agent:
      return caller == Caller::agent;
  }
  return false;
}

// A change that a browser asks for on behalf of another site's page.
std::optional<ServerReply> refuse_origin(Audience audience, const ServerRequest& request) {
  const std::string* origin = request.headers.find("Origin");
  const bool changes = audience == Audience::user || audience == Audience::agent;
  if (!changes || !origin ||
      origin->substr(std::min(origin->find("//") + 2, origin->size())) == request.headers.get("Host"))
    return std::nullopt;
  return problem(403, "a page of another site must not do this", request.id);
}

ServerReply refuse_caller(Audience audience, Caller caller, const ServerRequest& request) {
  if (caller == Caller::nobody)
    return problem(401, "this needs a token: send \"Authorization: Bearer TOKEN\"", request.id);
  if (caller == Caller::stranger) return problem(401, "the token is wrong", request.id);
  if (caller == Caller::run)
    return problem(403,
                   "this token is a job's, which may log into its own run over MLflow's API and nothing else",
                   request.id);
  return problem(403,
                 audience == Audience::agent ? "this needs the agent token" : "this needs the user token",
                 request.id);
}

}  // namespace

std::optional<ServerReply> refuse_host(const ApiOptions& options, const ServerRequest& request) {
  return options.check_host ? refuse_rebound_host(request) : std::nullopt;
}

std::string_view token_of(const ApiOptions& options, const ServerRequest& request) {
  const Caller caller = caller_with(options, bearer_token(request));
  return caller == Caller::user ? "user" : caller == Caller::agent ? "agent" : "nobody";
}

std::optional<ServerReply> refuse_access(const ApiOptions& options, Audience audience,
                                         const ServerRequest& request) {
  if (auto refusal = refuse_origin(audience, request)) return refusal;
  const Caller caller = caller_with(options, bearer_token(request));
  if (may(options, audience, caller)) return std::nullopt;
  return refuse_caller(audience, caller, request);
}

std::optional<ServerReply> refuse_tracking(const ApiOptions& options, Audience audience, TrackingScope scope,
                                           const ServerRequest& request) {
  if (auto refusal = refuse_origin(audience, request)) return refusal;
  const Caller caller = caller_with(options, tracking_token(request));
  if (may(options, audience, caller) || (caller == Caller::run && scope == TrackingScope::run))
    return std::nullopt;
  return refuse_caller(audience, caller, request);
}

std::optional<ServerReply> refuse_run(const ApiOptions& options, JobId run, const ServerRequest& request) {
  const std::optional<JobId> own = run_of_token(options, request);
  if (!own || *own == run) return std::nullopt;
  return problem(403,
                 "this token is that of job " + to_string(*own) + ", which may log into its own run alone",
                 request.id);
}

std::optional<JobId> run_of_token(const ApiOptions& options, const ServerRequest& request) {
  const std::optional<std::string> token = tracking_token(request);
  return token ? mlflow::job_of_token(*token, options.cluster, options.run_key) : std::nullopt;
}

}  // namespace podium
