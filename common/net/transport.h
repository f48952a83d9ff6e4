// A connection, plain or TLS, for the files of common/net that speak HTTP over it. Includes Beast: never
// include this from a header another folder sees.
#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <string>
#include <variant>

#include "common/net/http_message.h"

namespace podium {

namespace asio = boost::asio;
namespace beast = boost::beast;
using boost::system::error_code;
using Tcp = asio::ip::tcp;

// Completion token for awaited operations that return an error code instead of throwing.
inline constexpr auto kAsTuple = asio::as_tuple(asio::use_awaitable);

using PlainStream = beast::tcp_stream;
using TlsStream = beast::ssl_stream<beast::tcp_stream>;
using Transport = std::variant<PlainStream, TlsStream>;

beast::tcp_stream& tcp_layer(Transport& transport);

// Verifies the server's name against `ca_file` (PEM), or the system's authorities where that is "".
asio::ssl::context make_client_tls(const std::string& ca_file);
asio::ssl::context make_server_tls(const std::string& certificate_file, const std::string& key_file);

// TLS streams often end without close_notify, and HTTP marks its own ends.
bool is_end_of_stream(const error_code& error);

template <class Fields>
Headers headers_from(const Fields& fields) {
  Headers headers;
  for (const auto& field : fields) headers.set(field.name_string(), std::string(field.value()));
  return headers;
}

}  // namespace podium
