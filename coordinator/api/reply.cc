#include "coordinator/api/reply.h"

#include <nlohmann/json.hpp>

#include "common/model/codec.h"

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
  return problem(400, detail_of(errors), call.request.id, errors);
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

}  // namespace podium
