#include "coordinator/api/reply.h"

#include <spdlog/fmt/fmt.h>

#include <nlohmann/json.hpp>

#include "common/model/codec.h"
#include "common/spec/json_body.h"

namespace podium {

ServerReply json_reply(int status, const nlohmann::json& body) {
  ServerReply reply;
  reply.status = status;
  reply.headers.set("Content-Type", "application/json");
  reply.headers.set("Cache-Control", "no-store");
  reply.body = dump(body);
  return reply;
}

ServerReply bad_query(const Call& call) { return bad_request(call, call.query.problems()); }

ServerReply bad_request(const Call& call, const std::string& detail) {
  return problem(400, detail, call.request.id);
}

ServerReply bad_request(const Call& call, const Errors& errors) {
  const std::string detail = is_full(errors)
                                 ? fmt::format("more than {} problems, listed in errors", kMostMistakes)
                                 : detail_of(errors);
  return problem(400, detail, call.request.id, errors);
}

ServerReply no_such(const Call& call, std::string_view what, const std::string& which) {
  return problem(404, "there is no " + std::string(what) + " " + which.substr(0, 200), call.request.id);
}

std::optional<ServerReply> refuse_type(const Call& call, std::string_view type, std::size_t most) {
  if (call.request.body.size() > most)
    return problem(413, "the body is larger than the " + std::to_string(most) + " bytes that are read here",
                   call.request.id);
  const std::string given = call.request.headers.get("Content-Type");
  if (equal_ignoring_case(std::string_view(given).substr(0, given.find_first_of("; ")), type))
    return std::nullopt;
  return problem(415, "the body must be " + std::string(type) + "; say so in Content-Type", call.request.id);
}

std::optional<ServerReply> refuse_body(const Call& call) {
  if (call.request.body.empty() || call.request.body == "{}") return std::nullopt;
  return bad_request(call, "nothing is read of a body here; leave it out, or send {}");
}

Result<std::string> idempotency_key(const Call& call) {
  constexpr std::size_t kMost = 200;
  std::string key = call.request.headers.get("Idempotency-Key");
  if (key.size() <= kMost) return key;
  return malformed(fmt::format("Idempotency-Key is longer than {} characters", kMost), "");
}

}  // namespace podium
