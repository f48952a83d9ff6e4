#include "common/net/transport.h"

#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/beast/http/error.hpp>
#include <stdexcept>

namespace podium {

beast::tcp_stream& tcp_layer(Transport& transport) {
  return std::visit([](auto& stream) -> beast::tcp_stream& { return beast::get_lowest_layer(stream); },
                    transport);
}

asio::ssl::context make_client_tls(const std::string& ca_file) {
  asio::ssl::context context(asio::ssl::context::tls_client);
  error_code error;
  if (ca_file.empty())
    context.set_default_verify_paths(error);
  else
    context.load_verify_file(ca_file, error);
  if (error)
    throw std::runtime_error("cannot read the certificate authorities" +
                             (ca_file.empty() ? "" : " in " + ca_file) + ": " + error.message());
  context.set_verify_mode(asio::ssl::verify_peer);
  return context;
}

asio::ssl::context make_server_tls(const std::string& certificate_file, const std::string& key_file) {
  asio::ssl::context context(asio::ssl::context::tls_server);
  context.set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
                      asio::ssl::context::no_tlsv1_1);
  try {
    context.use_certificate_chain_file(certificate_file);
    context.use_private_key_file(key_file, asio::ssl::context::pem);
  } catch (const boost::system::system_error& error) {
    throw std::runtime_error("cannot serve TLS with the certificate " + certificate_file + " and the key " +
                             key_file + ": " + error.code().message());
  }
  return context;
}

bool is_end_of_stream(const error_code& error) {
  return error == beast::http::error::end_of_stream || error == asio::error::eof ||
         error == asio::error::connection_reset || error == asio::ssl::error::stream_truncated;
}

}  // namespace podium
