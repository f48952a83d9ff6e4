// Who a request comes from, by its header: the token that it carries, and whether a page of another site sent
// it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/net/http_server.h"
#include "common/net/url.h"

namespace podium {

// The token of "Authorization: Bearer TOKEN". Nothing where there is none; another scheme is a proxy's own.
std::optional<std::string_view> bearer_token(const HttpRequest& request);

// The password of "Authorization: Basic …". Nothing where there is none.
std::optional<std::string> basic_password(const HttpRequest& request);

// Whether only programs of this machine can connect to the address.
bool is_loopback(const HostPort& address);

// For a server that its own machine alone uses: a page of another site can reach it by making its own name
// resolve to 127.0.0.1. Its requests then carry that name, and are refused.
std::optional<ServerReply> refuse_rebound_host(const ServerRequest& request);

}  // namespace podium
