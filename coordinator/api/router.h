// Finds the function that answers a method and path. The table of all operations is in routes.cc; a test
// compares it with schemas/openapi.yaml.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/api/api.h"

namespace podium {

// Who may call an operation.
enum class Audience {
  open,   // anyone
  read,   // anyone while reading is open, else a holder of either token
  user,   // the user token
  agent,  // the agent token
};

struct Route {
  std::string_view method;
  std::string_view pattern;  // after /api/v1, "/jobs/{job}/cancel"
  Audience audience;
  awaitable<ServerReply> (*answer)(Api&, Call);
};

const std::vector<Route>& routes();

// The refusal of a request by its header alone (host, path, method, token), before its body is read.
std::optional<ServerReply> refuse_request(Api& api, const ServerRequest& head);

// Where the body of a request goes that refuse_request() let through; nothing where answer_request() gets it.
std::shared_ptr<RequestSink> sink_of_request(Api& api, const ServerRequest& head);

// The form of its API for every reply.
ServerReply form_reply(const ServerRequest& head, ServerReply reply);

void count_answer(Api& api, const std::string& method, int status);

// Answers a request that refuse_request() let through.
awaitable<ServerReply> answer_request(Api& api, ServerRequest request);

}  // namespace podium
