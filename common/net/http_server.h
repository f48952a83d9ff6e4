// The HTTP server: a listener and a coroutine for each connection. It handles what every service needs
// (limits on sizes, slow clients and connections; exceptions) and leaves paths and meaning to the handler.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "common/net/client_watch.h"
#include "common/net/http_message.h"
#include "common/net/url.h"

namespace podium {

struct ServerOptions {
  HostPort listen{"127.0.0.1", 0};  // port 0: any free one
  std::string tls_certificate;      // PEM files; both or neither
  std::string tls_key;

  std::uint32_t max_header = 16 * 1024;
  std::uint64_t max_body = 8 * 1024 * 1024;
  // Bodies larger than `small_body` share `max_bodies` bytes, from their header to their answer; a body that
  // does not fit gets a 503. Smaller bodies are always accepted. Bodies that go to a RequestSink share
  // `max_pieces` bytes, of which each has the size of a piece.
  std::uint64_t small_body = 64 * 1024;
  std::uint64_t max_bodies = 512 * 1024 * 1024;
  std::uint64_t max_pieces = 128 * 1024 * 1024;
  std::size_t max_connections = 2048;
  bool watch_clients = false;  // requests have a ServerRequest::client
  // A client that is late is cut off without an answer.
  std::chrono::milliseconds idle_timeout{75'000};    // between two requests of a connection
  std::chrono::milliseconds header_timeout{10'000};  // from a request's first byte to the end of its header
  std::chrono::milliseconds body_timeout{60'000};   // for a body, or for each piece of one with a RequestSink
  std::chrono::milliseconds write_timeout{30'000};  // for an answer, or for each piece of a streamed one
};

struct ServerRequest : HttpRequest {
  std::string id;    // in the log, in X-Request-Id and in every problem
  std::string peer;  // the client's address and port
  // A client that has ended its side of the connection has left, unless it has sent another request before.
  std::shared_ptr<ClientWatch> client{};
};

struct ServerReply : HttpResponse {
  // A streamed body: returns the next piece, or nothing at the end. Piece n + 1 is requested once piece n has
  // been sent, so the function must bound what it keeps for a slow client.
  // Where `headers` have a Content-Length, the pieces must come to as many bytes.
  std::function<boost::asio::awaitable<std::optional<std::string>>()> next_piece;
};

// An exception of the handler becomes a 500 that names only the request's id; the log has the details.
using HttpHandler = std::function<boost::asio::awaitable<ServerReply>(ServerRequest)>;

// Takes the body of one request as it arrives and answers in the handler's place. Its exceptions are those of
// a handler. Destroyed without finish(), it has not seen the whole body.
class RequestSink {
 public:
  virtual ~RequestSink() = default;

  virtual std::uint64_t most() const = 0;  // bytes; a longer body gets a 413
  // The next bytes; piece n + 1 is read from the client once piece n is taken. With a reply the rest is
  // refused.
  virtual boost::asio::awaitable<std::optional<ServerReply>> take(std::string piece) = 0;
  virtual boost::asio::awaitable<ServerReply> finish() = 0;
};

// Each may be empty.
struct ServerHooks {
  // Checks a request by its header alone. With a reply the request is refused and its body is never stored,
  // so a stranger's request costs only the reading.
  std::function<std::optional<ServerReply>(const ServerRequest& head)> check = {};
  // Where the body of a request goes that has passed the check: to the sink, or with none into
  // ServerRequest::body.
  std::function<std::shared_ptr<RequestSink>(const ServerRequest& head)> sink = {};
  // The last word on every reply to a request, also on those of the server itself.
  std::function<ServerReply(const ServerRequest& head, ServerReply reply)> form = {};
};

// Another program listens on the address.
struct AddressTaken : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Lives on one thread: the executor's.
class HttpServer {
 public:
  // Binds and listens; throws AddressTaken or another std::runtime_error naming the address.
  HttpServer(boost::asio::any_io_executor executor, ServerOptions options, HttpHandler handler,
             ServerHooks hooks = {});
  ~HttpServer();

  void start();
  std::uint16_t port() const;
  std::size_t connections() const;

  // Accepts no more connections, closes idle ones, lets begun answers finish within `grace`, then closes all.
  // The owner must end streamed bodies.
  boost::asio::awaitable<void> stop(std::chrono::milliseconds grace);

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;  // shared with the accept loop and the sessions
};

}  // namespace podium
