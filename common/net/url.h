// URLs: where a server is, and the path and query of a request.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/error.h"

namespace podium {

// "https://host:port/path?query". `host` has no brackets, also for IPv6.
struct Url {
  bool tls = false;
  std::string host;
  std::uint16_t port = 80;
  std::string target = "/";  // path and query, percent-encoded

  std::string origin() const;  // "https://host:port"
};

Result<Url> parse_url(std::string_view text);

// A request's target, decoded. Several query fields may have the same name.
struct Target {
  std::vector<std::string> segments;  // "/api/v1/jobs/7" -> api, v1, jobs, 7; decoded one by one
  std::vector<std::pair<std::string, std::string>> query;
};

Result<Target> parse_target(std::string_view target);

// Percent-encodes everything but unreserved characters: for one path segment or query value.
std::string encode_component(std::string_view text);

// "127.0.0.1:7070", "[::1]:7070", "node-3:7070".
struct HostPort {
  std::string host;
  std::uint16_t port = 0;

  std::string text() const;
};

Result<HostPort> parse_host_port(std::string_view text);

}  // namespace podium
