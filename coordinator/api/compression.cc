#include "coordinator/api/compression.h"

#include "common/net/gzip.h"

namespace podium {
namespace {

constexpr std::size_t kWorthPacking = 2 * 1024;
constexpr std::size_t kLong = 16 * 1024;  // packed in less than 0.2 ms

}  // namespace

awaitable<ServerReply> compressed(Api& api, bool accepted, ServerReply reply) {
  if (reply.next_piece || reply.body.size() < kWorthPacking) co_return reply;
  reply.headers.set("Vary", "Accept-Encoding");
  if (!accepted) co_return reply;
  const auto pack = [&body = reply.body] { return gzip_compress(body); };
  try {
    std::string packed;
    if (reply.body.size() < kLong)
      packed = pack();
    else
      packed = co_await api.pool.run(pack);
    reply.body = std::move(packed);
    reply.headers.set("Content-Encoding", "gzip");
  } catch (const Busy&) {  // it is sent as it is
  }
  co_return reply;
}

}  // namespace podium
