// GET /specs: the git repositories that are watched, and what became of their specs.
#include <nlohmann/json.hpp>

#include "coordinator/api/reply.h"
#include "coordinator/api/resources.h"
#include "coordinator/specs/spec_status.h"

namespace podium {

awaitable<ServerReply> get_specs(Api& api, Call call) {
  if (!call.query.problems().empty()) co_return bad_query(call);
  nlohmann::json repositories = nlohmann::json::array();
  for (const SpecRepositoryStatus& status : api.specs()) repositories.push_back(to_json(status));
  co_return json_reply(200, {{"repositories", std::move(repositories)}});
}

}  // namespace podium
