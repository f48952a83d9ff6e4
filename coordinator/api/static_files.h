// The dashboard: files of the --web folder and nothing outside it.
#pragma once

#include <string>
#include <vector>

#include "coordinator/api/api.h"

namespace podium {

awaitable<ServerReply> answer_file(Api& api, ServerRequest request, std::vector<std::string> segments);

}  // namespace podium
