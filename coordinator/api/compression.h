// Compresses answers for clients that accept gzip: a list of jobs shrinks to a tenth of its size.
#pragma once

#include "coordinator/api/api.h"

namespace podium {

// `accepted`: the request accepts gzip. Streams and short bodies stay as they are; long bodies are compressed
// off the loop's thread.
awaitable<ServerReply> compressed(Api& api, bool accepted, ServerReply reply);

}  // namespace podium
