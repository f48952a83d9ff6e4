#include "coordinator/api/service_url.h"

#include <nlohmann/json.hpp>

#include "common/net/url.h"

namespace podium {

using nlohmann::json;

// Of a gateway on all addresses of its machine, the one by which the client has found the coordinator.
json services_address(const Api& api, const ServerRequest& request) {
  const Result<Url> gateway = parse_url(api.options.services);
  if (!gateway) return nullptr;
  Url url = *gateway;
  const std::string* asked = request.headers.find("Host");
  if (asked && (url.host == "0.0.0.0" || url.host == "::"))
    if (const Result<Url> host = parse_url("http://" + *asked)) url.host = host->host;
  return url.origin();
}

json service_url(const Api& api, const ServerRequest& request, const std::string& service) {
  const json address = services_address(api, request);
  return address.is_null() ? address : json(address.get<std::string>() + "/" + service);
}

}  // namespace podium
