#include "common/net/problem.h"

#include <nlohmann/json.hpp>

namespace podium {
namespace {

using nlohmann::json;

std::string_view title(int status) {
  switch (status) {
    case 400:
      return "Malformed request";
    case 401:
      return "Not authorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not found";
    case 405:
      return "Method not allowed";
    case 408:
      return "Request timed out";
    case 409:
      return "Conflict";
    case 413:
      return "Too large";
    case 415:
      return "Wrong content type";
    case 422:
      return "Unprocessable";
    case 429:
      return "Too many requests";
    case 431:
      return "Request header too large";
    case 500:
      return "Internal error";
    case 503:
      return "Unavailable";
    case 504:
      return "Timed out";
    case 507:
      return "Insufficient storage";
  }
  return "Error";
}

int status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid:
      return 422;
    case ErrorCode::not_found:
      return 404;
    case ErrorCode::conflict:
      return 409;
    case ErrorCode::unauthorized:
      return 401;
    case ErrorCode::forbidden:
      return 403;
    case ErrorCode::too_large:
      return 413;
    case ErrorCode::unavailable:
      return 503;
  }
  PODIUM_CHECK(false, "unknown ErrorCode");
}

}  // namespace

json error_json(const Error& error) {
  json out{{"message", error.message}, {"where", error.where}};
  if (!error.pointer.empty()) out["pointer"] = error.pointer;
  return out;
}

ServerReply problem(int status, const std::string& detail, const std::string& request_id,
                    const Errors& errors) {
  json body{{"type", "about:blank"},
            {"title", title(status)},
            {"status", status},
            {"detail", detail},
            {"request_id", request_id}};
  if (!errors.empty()) {
    json& list = body["errors"] = json::array();
    for (const Error& error : errors) list.push_back(error_json(error));
  }
  ServerReply reply;
  reply.status = status;
  reply.headers.set("Content-Type", "application/problem+json");
  if (status == 401) reply.headers.set("WWW-Authenticate", "Bearer realm=\"podium\"");
  if (status == 429 || status == 503) reply.headers.set("Retry-After", "1");
  reply.body = body.dump(-1, ' ', false, json::error_handler_t::replace);
  return reply;
}

std::string detail_of(const Errors& errors) {
  return errors.size() == 1 ? describe(errors)
                            : std::to_string(errors.size()) + " problems, listed in errors";
}

ServerReply problem(const Errors& errors, const std::string& request_id) {
  PODIUM_CHECK(!errors.empty(), "a problem needs an error");
  return problem(status_of(errors.front().code), detail_of(errors), request_id, errors);
}

}  // namespace podium
