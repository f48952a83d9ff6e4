// A file as an answer, or the part of it that the request's Range names; read on the pool of files as it is
// sent.
#pragma once

#include <string>

#include "common/base/file_tree.h"
#include "coordinator/api/api.h"

namespace podium {

// `name`: what whoever saves it may call it. `too_far`: the answer to a range after its end, but for its
// status.
ServerReply file_reply(Api& api, const ServerRequest& request, const std::string& name, TreeFile file,
                       ServerReply too_far);

}  // namespace podium
