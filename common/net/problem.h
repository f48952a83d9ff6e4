// application/problem+json (RFC 9457): the one form in which a service says no.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "common/base/error.h"
#include "common/net/http_server.h"

namespace podium {

// {"message", "where"}, and "pointer" where there is one.
nlohmann::json error_json(const Error& error);

// The one that there is, or how many there are.
std::string detail_of(const Errors& errors);

// `errors` are listed one by one beside `detail`, which says it in one sentence.
ServerReply problem(int status, const std::string& detail, const std::string& request_id,
                    const Errors& errors = {});

// The status is that of the first error's code.
ServerReply problem(const Errors& errors, const std::string& request_id);

}  // namespace podium
