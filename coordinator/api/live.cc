#include "coordinator/api/reply.h"
#include "coordinator/api/resources.h"

namespace podium {

awaitable<ServerReply> get_live(Api& api, Call call) {
  constexpr std::int64_t kLargestId = std::int64_t{1} << 53;  // what browsers count exactly
  const std::optional<std::int64_t> job = call.query.integer("job", 1, INT64_MAX);
  if (!call.query.problems().empty()) co_return bad_query(call);
  std::optional<std::int64_t> last_id;
  if (const std::string* given = call.request.headers.find("Last-Event-ID"); given && !given->empty()) {
    last_id = parse_integer(*given);
    if (!last_id || *last_id < 0 || *last_id > kLargestId)
      co_return bad_request(call, "Last-Event-ID is not an id this stream gave");
  }
  ServerReply reply;
  reply.headers.set("Content-Type", "text/event-stream");
  reply.headers.set("Cache-Control", "no-store");
  reply.next_piece = api.live.subscribe(last_id, job ? std::optional(JobId{*job}) : std::nullopt);
  co_return reply;
}

}  // namespace podium
