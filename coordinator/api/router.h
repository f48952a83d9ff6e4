// From method and path to the function that answers. The table of all operations is in routes.cc; a test
// holds it and schemas/openapi.yaml to each other.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/api/api.h"

namespace podium {

// Who may call an operation.
enum class Access {
  open,   // anyone
  read,   // anyone while reading is open, else a holder of either token
  user,   // the user token
  agent,  // the agent token
};

struct Route {
  std::string_view method;
  std::string_view pattern;  // after /api/v1, "/jobs/{job}/cancel"
  Access access;
  awaitable<ServerReply> (*answer)(Api&, Call);
};

const std::vector<Route>& routes();

// The whole of an HTTP request: host, route, token, answer.
awaitable<ServerReply> answer_request(Api& api, ServerRequest request);

}  // namespace podium
