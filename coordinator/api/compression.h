// Packs what the API answers for clients that accept it: a list of jobs becomes a tenth of its size.
#pragma once

#include "coordinator/api/api.h"

namespace podium {

// `accepted`: the request asked for gzip. Streams and short bodies stay as they are; long ones are packed off
// the loop's thread.
awaitable<ServerReply> compressed(Api& api, bool accepted, ServerReply reply);

}  // namespace podium
