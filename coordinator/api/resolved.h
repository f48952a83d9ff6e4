// Who answers a request, found by its header alone.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/net/url.h"
#include "coordinator/api/api.h"

namespace podium {

struct Resolved {
  std::optional<ServerReply> refusal;
  awaitable<ServerReply> (*answer)(Api&, Call) = nullptr;  // none: `sink`, or a file of the dashboard
  std::vector<std::string> path;                           // the values of the pattern's {…}
  Target target;
  // Takes the body as it arrives, and answers.
  std::shared_ptr<RequestSink> (*sink)(Api&, ServerRequest head, std::vector<std::string> path) = nullptr;
};

inline Resolved refused(ServerReply reply) {
  Resolved resolved;
  resolved.refusal = std::move(reply);
  return resolved;
}

}  // namespace podium
