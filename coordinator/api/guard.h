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

// Of /api/v1 and the metrics.
std::optional<ServerReply> refuse_access(const ApiOptions& options, Audience audience,
                                         const ServerRequest& request);

// What a request of MLflow's protocol is about, as its path tells. A job's token is for its own run alone.
enum class TrackingScope {
  all,  // runs of everybody
  run,  // one run: refuse_run() must follow with it
};

// Of MLflow's protocol, whose clients send a token also as the password of Basic. `audience`: read or user.
std::optional<ServerReply> refuse_tracking(const ApiOptions& options, Audience audience, TrackingScope scope,
                                           const ServerRequest& request);
std::optional<ServerReply> refuse_run(const ApiOptions& options, JobId run, const ServerRequest& request);

// The job whose token the request carries; nothing with another token, or none.
std::optional<JobId> run_of_token(const ApiOptions& options, const ServerRequest& request);

}  // namespace podium
