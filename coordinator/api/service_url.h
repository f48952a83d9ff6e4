// Where services are asked, as the client of a request reaches it; null without --services.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "coordinator/api/api.h"

namespace podium {

nlohmann::json services_address(const Api& api, const ServerRequest& request);
nlohmann::json service_url(const Api& api, const ServerRequest& request, const std::string& service);

}  // namespace podium
