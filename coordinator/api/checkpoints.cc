#include <nlohmann/json.hpp>

#include "coordinator/api/json_views.h"
#include "coordinator/api/reply.h"
#include "coordinator/api/resources.h"

namespace podium {

using nlohmann::json;

awaitable<ServerReply> get_checkpoints(Api& api, Call call) {
  if (!call.query.problems().empty()) co_return bad_query(call);
  const auto id = parse_id<JobId>(call.path[0]);
  if (!id) co_return no_such(call, "job", call.path[0]);
  const auto saved = co_await api.pool.read([id](Reader& reader) {
    using Checkpoints = std::optional<std::vector<CheckpointView>>;
    return reader.job(*id) ? Checkpoints(reader.checkpoints(*id)) : Checkpoints();
  });
  if (!saved) co_return no_such(call, "job", call.path[0]);
  json checkpoints = json::array();
  for (const CheckpointView& checkpoint : *saved)
    checkpoints.push_back(checkpoint_json(checkpoint, *id, api.loop.state().folder));
  co_return json_reply(200, {{"checkpoints", std::move(checkpoints)}});
}

}  // namespace podium
