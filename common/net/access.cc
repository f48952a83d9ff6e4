#include "common/net/access.h"

#include <openssl/evp.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <string>

#include "common/net/problem.h"

namespace podium {
namespace {

// "name:port" or "[v6]:port" without the port and brackets.
std::string host_name(const std::string& host) {
  if (host.starts_with('[')) return host.substr(1, host.find(']') - 1);
  return host.substr(0, host.find(':'));
}

// What follows the scheme in Authorization.
std::optional<std::string_view> credentials(const HttpRequest& request, std::string_view scheme) {
  const std::string* field = request.headers.find("Authorization");
  if (!field) return std::nullopt;
  const std::size_t space = std::min(field->find(' '), field->size());
  if (!equal_ignoring_case(std::string_view(*field).substr(0, space), scheme)) return std::nullopt;
  return std::string_view(*field).substr(std::min(space + 1, field->size()));
}

std::optional<std::string> from_base64(std::string_view text) {
  std::string raw(text.size() / 4 * 3, '\0');
  const int size =
      EVP_DecodeBlock(reinterpret_cast<unsigned char*>(raw.data()),
                      reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  if (size < 0) return std::nullopt;
  raw.resize(static_cast<std::size_t>(size));
  for (int i = 0; i < 2 && text.ends_with('='); ++i) {  // OpenSSL counts the padding
    text.remove_suffix(1);
    raw.pop_back();
  }
  return raw;
}

}  // namespace

std::optional<std::string_view> bearer_token(const HttpRequest& request) {
  return credentials(request, "Bearer");
}

std::optional<std::string> basic_password(const HttpRequest& request) {
  const auto encoded = credentials(request, "Basic");
  const auto pair = encoded ? from_base64(*encoded) : std::nullopt;
  if (!pair || pair->find(':') == pair->npos) return std::nullopt;
  return pair->substr(pair->find(':') + 1);
}

bool is_loopback(const HostPort& address) {
  boost::system::error_code not_an_address;
  const auto parsed = boost::asio::ip::make_address(address.host, not_an_address);
  return !not_an_address && parsed.is_loopback();
}

std::optional<ServerReply> refuse_rebound_host(const ServerRequest& request) {
  const std::string* host = request.headers.find("Host");
  if (!host) return std::nullopt;  // HTTP/1.0, so not a browser
  const std::string name = host_name(*host);
  boost::system::error_code not_an_address;
  boost::asio::ip::make_address(name, not_an_address);
  if (!not_an_address || equal_ignoring_case(name, "localhost")) return std::nullopt;
  return problem(403,
                 "this server answers its own machine; use http://localhost or its IP address as the host",
                 request.id);
}

}  // namespace podium
