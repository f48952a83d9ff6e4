#include "coordinator/mlflow/error.h"

#include <nlohmann/json.hpp>

namespace podium::mlflow {
namespace {

using nlohmann::json;

struct CodeRow {
  Code code;
  std::string_view name;
  int status;
};

// The first row of a status is the code of refusals that have no other.
constexpr CodeRow kCodes[] = {
    {Code::bad_request, "BAD_REQUEST", 400},
    {Code::invalid_parameter_value, "INVALID_PARAMETER_VALUE", 400},
    {Code::resource_already_exists, "RESOURCE_ALREADY_EXISTS", 400},
    {Code::unauthenticated, "UNAUTHENTICATED", 401},
    {Code::permission_denied, "PERMISSION_DENIED", 403},
    {Code::resource_does_not_exist, "RESOURCE_DOES_NOT_EXIST", 404},
    {Code::endpoint_not_found, "ENDPOINT_NOT_FOUND", 404},
    {Code::resource_conflict, "RESOURCE_CONFLICT", 409},
    {Code::request_limit_exceeded, "REQUEST_LIMIT_EXCEEDED", 429},
    {Code::resource_exhausted, "RESOURCE_EXHAUSTED", 429},
    {Code::internal_error, "INTERNAL_ERROR", 500},
    {Code::not_implemented, "NOT_IMPLEMENTED", 501},
    {Code::temporarily_unavailable, "TEMPORARILY_UNAVAILABLE", 503},
    {Code::deadline_exceeded, "DEADLINE_EXCEEDED", 504},
};

const CodeRow& row_of(Code code) {
  for (const CodeRow& row : kCodes)
    if (row.code == code) return row;
  PODIUM_CHECK(false, "unknown code of MLflow");
}

Code code_of_status(int status) {
  for (const CodeRow& row : kCodes)
    if (row.status == status) return row.code;
  return status < 500 ? Code::bad_request : Code::internal_error;
}

Code code_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid:
    case ErrorCode::too_large:
      return Code::invalid_parameter_value;
    case ErrorCode::not_found:
      return Code::resource_does_not_exist;
    case ErrorCode::conflict:
      return Code::resource_conflict;
    case ErrorCode::unauthorized:
      return Code::unauthenticated;
    case ErrorCode::forbidden:
      return Code::permission_denied;
    case ErrorCode::unavailable:
      return Code::temporarily_unavailable;
  }
  PODIUM_CHECK(false, "unknown ErrorCode");
}

void write_fault(ServerReply& reply, Code code, const std::string& message) {
  reply.headers.set("Content-Type", "application/json");
  reply.headers.set("Cache-Control", "no-store");
  reply.body = json{{"error_code", name_of(code)}, {"message", message}}.dump(-1, ' ', false,
                                                                              json::error_handler_t::replace);
}

}  // namespace

std::string_view name_of(Code code) { return row_of(code).name; }
int status_of(Code code) { return row_of(code).status; }

Fault fault_of(const Errors& errors) {
  PODIUM_CHECK(!errors.empty(), "a fault needs an error");
  return {code_of(errors.front().code), describe(errors)};
}

ServerReply refusal(const Fault& fault) {
  ServerReply reply;
  reply.status = status_of(fault.code);
  if (reply.status == 401) reply.headers.set("WWW-Authenticate", "Basic realm=\"podium\"");
  if (reply.status == 429 || reply.status == 503) reply.headers.set("Retry-After", "1");
  write_fault(reply, fault.code, fault.message);
  return reply;
}

ServerReply in_mlflow_form(ServerReply reply) {
  if (reply.headers.get("Content-Type") != "application/problem+json") return reply;
  if (reply.status == 422) reply.status = status_of(Code::invalid_parameter_value);
  const json problem = json::parse(reply.body);
  std::string message = problem.at("detail");
  for (const json& error : problem.value("errors", json::array())) {
    const std::string one = error.at("message");
    if (message.find(one) == std::string::npos) message += "\n" + one;
  }
  write_fault(reply, code_of_status(reply.status), message);
  return reply;
}

}  // namespace podium::mlflow
