// application/problem+json (RFC 9457): the form of every refusal.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "common/base/error.h"
#include "common/net/http_server.h"

namespace podium {

// {"message", "where"}, and "pointer" where there is one.
nlohmann::json error_json(const Error& error);

// The error's message, or the number of errors where there are several.
std::string detail_of(const Errors& errors);

// `detail` is one sentence; `errors` are listed beside it.
ServerReply problem(int status, const std::string& detail, const std::string& request_id,
                    const Errors& errors = {});

// The status is that of the first error's code.
ServerReply problem(const Errors& errors, const std::string& request_id);

}  // namespace podium
