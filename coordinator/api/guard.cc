#include "coordinator/api/guard.h"

#include "common/net/access.h"
#include "common/net/problem.h"
#include "common/net/token.h"

namespace podium {
namespace {

enum class Caller { nobody, stranger, user, agent };

Caller caller_of(const ApiOptions& options, const ServerRequest& request) {
  const std::optional<std::string_view> token = bearer_token(request);
  if (!token) return Caller::nobody;
  if (equal_in_constant_time(*token, options.user_token)) return Caller::user;
  if (equal_in_constant_time(*token, options.agent_token)) return Caller::agent;
  return Caller::stranger;
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

}  // namespace

std::optional<ServerReply> refuse_host(const ApiOptions& options, const ServerRequest& request) {
  return options.check_host ? refuse_rebound_host(request) : std::nullopt;
}

std::string_view token_of(const ApiOptions& options, const ServerRequest& request) {
  const Caller caller = caller_of(options, request);
  return caller == Caller::user ? "user" : caller == Caller::agent ? "agent" : "nobody";
}

std::optional<ServerReply> refuse_access(const ApiOptions& options, Audience audience,
                                         const ServerRequest& request) {
  const std::string* origin = request.headers.find("Origin");
  const bool changes = audience == Audience::user || audience == Audience::agent;
  if (changes && origin &&
      origin->substr(std::min(origin->find("//") + 2, origin->size())) != request.headers.get("Host"))
    return problem(403, "a page of another site must not do this", request.id);
  const Caller caller = caller_of(options, request);
  if (may(options, audience, caller)) return std::nullopt;
  if (caller == Caller::nobody)
    return problem(401, "this needs a token: send \"Authorization: Bearer TOKEN\"", request.id);
  if (caller == Caller::stranger) return problem(401, "the token is wrong", request.id);
  return problem(403,
                 audience == Audience::agent ? "this needs the agent token" : "this needs the user token",
                 request.id);
}

}  // namespace podium
