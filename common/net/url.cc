#include "common/net/url.h"

#include <boost/url.hpp>
#include <charconv>
#include <optional>

namespace podium {
namespace {

Error bad_url(std::string_view text, const std::string& why) {
  return {ErrorCode::invalid,
          "\"" + std::string(text) + "\" is not an address Podium can use: " + why +
              "; write it like http://127.0.0.1:7070",
          ""};
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return port;
}

std::string bracketed(const std::string& host) {
  return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

}  // namespace

std::string Url::origin() const {
  return (tls ? "https://" : "http://") + bracketed(host) + ":" + std::to_string(port);
}

Result<Url> parse_url(std::string_view text) {
  const auto parsed = boost::urls::parse_uri(text);
  if (!parsed) return bad_url(text, parsed.error().message());
  Url url;
  if (parsed->scheme() != "http" && parsed->scheme() != "https")
    return bad_url(text, "the scheme must be http or https");
  url.tls = parsed->scheme() == "https";
  url.host = parsed->host_type() == boost::urls::host_type::ipv6 ? parsed->host_address() : parsed->host();
  if (url.host.empty()) return bad_url(text, "it names no host");
  url.port = url.tls ? 443 : 80;
  if (parsed->has_port()) {
    const auto port = parse_port(parsed->port());
    if (!port || *port == 0) return bad_url(text, "the port must be from 1 to 65535");
    url.port = *port;
  }
  if (parsed->has_userinfo()) return bad_url(text, "it must not hold a password");
  const std::string target(parsed->encoded_target());
  if (!target.empty()) url.target = target;
  return url;
}

Result<Target> parse_target(std::string_view target) {
  const auto parsed = boost::urls::parse_origin_form(target);
  if (!parsed)
    return Error{ErrorCode::invalid, "malformed request target", std::string(target.substr(0, 200))};
  Target out;
  for (const auto& segment : parsed->segments()) out.segments.push_back(segment);
  boost::urls::encoding_opts options;
  options.space_as_plus = true;
  for (const auto& param : parsed->params(options)) out.query.emplace_back(param.key, param.value);
  return out;
}

std::string encode_component(std::string_view text) {
  return boost::urls::encode(text, boost::urls::unreserved_chars);
}

std::string HostPort::text() const { return bracketed(host) + ":" + std::to_string(port); }

Result<HostPort> parse_host_port(std::string_view text) {
  const Error bad{ErrorCode::invalid,
                  "\"" + std::string(text) +
                      "\" is not an address to listen on; write it like 127.0.0.1:7070 or [::1]:7070",
                  ""};
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return bad;
  const auto port = parse_port(text.substr(colon + 1));
  std::string_view host = text.substr(0, colon);
  if (host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  if (!port || host.empty()) return bad;
  return HostPort{std::string(host), *port};
}

}  // namespace podium
