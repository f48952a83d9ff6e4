// The HTTP server: a listener and one coroutine a connection. It guards what every service needs guarded
// (sizes, slow clients, the number of connections, exceptions) and leaves paths and meaning to the handler.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/net/http_message.h"
#include "common/net/url.h"

namespace podium {

struct ServerOptions {
  HostPort listen{"127.0.0.1", 0};  // port 0: any free one
  std::string tls_certificate;      // PEM files; both or neither
  std::string tls_key;

  std::uint32_t max_header = 16 * 1024;
  std::uint64_t max_body = 8 * 1024 * 1024;
  // Larger bodies than `small_body` have `max_bodies` together, from their header to their answer; what does
  // not fit gets a 503. Smaller ones are always taken.
  std::uint64_t small_body = 64 * 1024;
  std::uint64_t max_bodies = 512 * 1024 * 1024;
  std::size_t max_connections = 2048;
  // A client that is late is cut off without an answer.
  std::chrono::milliseconds idle_timeout{75'000};    // between two requests of a connection
  std::chrono::milliseconds header_timeout{10'000};  // from a request's first byte to the end of its header
  std::chrono::milliseconds body_timeout{60'000};
  std::chrono::milliseconds write_timeout{30'000};  // for an answer, or for each piece of a streamed one
};

struct ServerRequest : HttpRequest {
  std::string id;    // in the log, in X-Request-Id and in every problem
  std::string peer;  // the client's address and port
};

struct ServerReply : HttpResponse {
  // A streamed body: gives the next piece, nothing at the end. Piece n + 1 is asked for when piece n is on
  // its way, so what a slow client makes wait must be bounded inside.
  std::function<boost::asio::awaitable<std::optional<std::string>>()> next_piece;
};

// Judges a request by its header alone: with a reply it is refused, and its body is never taken in. So what a
// stranger sends costs nothing but the reading over it.
using HeadCheck = std::function<std::optional<ServerReply>(const ServerRequest& head)>;

// What a handler throws becomes a 500 that names only the request's id; the log has the rest.
using HttpHandler = std::function<boost::asio::awaitable<ServerReply>(ServerRequest)>;

// Lives on one thread: the executor's.
class HttpServer {
 public:
  // Binds and listens; throws std::runtime_error naming the address.
  HttpServer(boost::asio::any_io_executor executor, ServerOptions options, HttpHandler handler,
             HeadCheck check = {});
  ~HttpServer();

  void start();
  std::uint16_t port() const;
  std::size_t connections() const;

  // Takes no more connections, closes the idle ones, lets answers under way finish within `grace`, then
  // closes all. Streamed bodies must be ended by their owner.
  boost::asio::awaitable<void> stop(std::chrono::milliseconds grace);

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;  // shared with the accept loop and the sessions
};

}  // namespace podium
