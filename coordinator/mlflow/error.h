// MLflow's form of a refusal, {"error_code", "message"}: the form of every refusal below /api/2.0/mlflow. Its
// client tries again for minutes after 429, 500, 503 and 504, which are therefore never for a permanent
// fault.
#pragma once

#include <string>
#include <string_view>

#include "common/base/error.h"
#include "common/net/http_server.h"

namespace podium::mlflow {

enum class Code {
  invalid_parameter_value,
  bad_request,
  resource_already_exists,
  unauthenticated,
  permission_denied,
  resource_does_not_exist,
  endpoint_not_found,
  resource_conflict,
  request_limit_exceeded,
  resource_exhausted,
  internal_error,
  not_implemented,
  temporarily_unavailable,
  deadline_exceeded,
};

struct Fault {
  Code code = Code::invalid_parameter_value;
  std::string message;  // what is wrong with which object, and what to do next

  bool operator==(const Fault&) const = default;
};

std::string_view name_of(Code code);  // "INVALID_PARAMETER_VALUE"
int status_of(Code code);

// All messages, with the code of the first error.
Fault fault_of(const Errors& errors);

ServerReply refusal(const Fault& fault);

// A refusal of Podium's own form (common/net/problem.h) in MLflow's, with its status (400 for 422, which
// MLflow lacks); other replies as they are.
ServerReply in_mlflow_form(ServerReply reply);

}  // namespace podium::mlflow
