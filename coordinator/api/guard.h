// Access control: tokens, and the checks of Host and Origin that keep pages of other sites, in a browser on
// the coordinator's machine, from using the API. Each function returns the refusal, or nothing to let the
// request pass.
#pragma once

#include <optional>

#include "coordinator/api/router.h"

namespace podium {

// As refuse_rebound_host(), where the options ask for it.
std::optional<ServerReply> refuse_host(const ApiOptions& options, const ServerRequest& request);

// "user", "agent" or "nobody": whose token the request carries.
std::string_view token_of(const ApiOptions& options, const ServerRequest& request);

std::optional<ServerReply> refuse_access(const ApiOptions& options, Audience audience,
                                         const ServerRequest& request);

}  // namespace podium
