#include "coordinator/api/guard.h"

#include <boost/asio/ip/address.hpp>

#include "common/net/problem.h"
#include "common/net/token.h"

namespace podium {
namespace {

enum class Caller { nobody, stranger, user, agent };

Caller caller_of(const ApiOptions& options, const ServerRequest& request) {
  const std::string* field = request.headers.find("Authorization");
  if (!field) return Caller::nobody;
  const std::size_t space = std::min(field->find(' '), field->size());
  if (!equal_ignoring_case(std::string_view(*field).substr(0, space), "Bearer"))
    return Caller::nobody;  // a proxy's own
  const std::string_view token = std::string_view(*field).substr(std::min(space + 1, field->size()));
  if (equal_in_constant_time(token, options.user_token)) return Caller::user;
  if (equal_in_constant_time(token, options.agent_token)) return Caller::agent;
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

// "name:port" or "[v6]:port" without the port and brackets.
std::string host_name(const std::string& host) {
  if (host.starts_with('[')) return host.substr(1, host.find(']') - 1);
  return host.substr(0, host.find(':'));
}

}  // namespace

std::optional<ServerReply> refuse_host(const ApiOptions& options, const ServerRequest& request) {
  if (!options.check_host) return std::nullopt;
  const std::string* host = request.headers.find("Host");
  if (!host) return std::nullopt;  // HTTP/1.0, so not a browser
  const std::string name = host_name(*host);
  boost::system::error_code not_an_address;
  boost::asio::ip::make_address(name, not_an_address);
  if (!not_an_address || equal_ignoring_case(name, "localhost")) return std::nullopt;
  return problem(
      403, "this coordinator serves its own machine; use http://localhost or its IP address as the host",
      request.id);
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
