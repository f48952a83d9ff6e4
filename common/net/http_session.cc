#include "common/net/http_session.h"

#include <boost/beast/http.hpp>

#include "common/base/logging.h"
#include "common/net/problem.h"

namespace podium {
namespace {

namespace http = beast::http;
using asio::awaitable;
using RequestParser = http::request_parser<http::string_body>;

beast::tcp_stream& tcp(PlainStream& stream) { return stream; }
beast::tcp_stream& tcp(TlsStream& stream) { return stream.next_layer(); }

struct Received {
  bool closed = false;           // nothing more to do on this connection
  std::optional<int> malformed;  // the status that says what is wrong with the request
  std::string detail;
  unsigned version = 11;
  bool keep_alive = false;
  ServerRequest request;
};

Received refused(int status, std::string detail) {
  Received out;
  out.malformed = status;
  out.detail = std::move(detail);
  return out;
}

Received from_error(const error_code& error, const ServerOptions& options) {
  if (error == http::error::header_limit)
    return refused(431, "the request header is larger than " + std::to_string(options.max_header) + " bytes");
  if (error == http::error::body_limit)
    return refused(413, "the body is larger than " + std::to_string(options.max_body) + " bytes");
  if (error != http::error::end_of_stream && error != http::error::partial_message &&
      error.category() == http::make_error_code(http::error::bad_method).category())
    return refused(400, "this is not an HTTP/1.1 request: " + error.message());
  Received out;
  out.closed = true;
  return out;
}

Received from_parser(RequestParser& parser) {
  auto& message = parser.get();
  Received out;
  out.version = message.version();
  out.keep_alive = message.keep_alive();
  out.request.method = std::string(message.method_string());
  out.request.target = std::string(message.target());
  out.request.headers = headers_from(message.base());
  out.request.body = std::move(message.body());
  if (out.version >= 11 && !out.request.headers.find("Host"))
    return refused(400, "an HTTP/1.1 request needs a Host field");
  return out;
}

template <class Stream>
awaitable<error_code> send_continue(Stream& stream, const ServerOptions& options) {
  http::response<http::empty_body> proceed(http::status::continue_, 11);
  tcp(stream).expires_after(options.write_timeout);
  const auto [error, bytes] = co_await http::async_write(stream, proceed, kAsTuple);
  co_return error;
}

template <class Stream>
awaitable<Received> receive(Stream& stream, beast::flat_buffer& buffer, const ServerOptions& options) {
  RequestParser parser;
  parser.header_limit(options.max_header);
  parser.body_limit(options.max_body);
  tcp(stream).expires_after(options.header_timeout);
  const auto [header_error, header_bytes] =
      co_await http::async_read_header(stream, buffer, parser, kAsTuple);
  if (header_error) co_return from_error(header_error, options);
  if (equal_ignoring_case(std::string_view(parser.get()[http::field::expect]), "100-continue")) {
    const error_code error = co_await send_continue(stream, options);
    if (error) co_return from_error(error, options);
  }
  tcp(stream).expires_after(options.body_timeout);
  const auto [body_error, body_bytes] = co_await http::async_read(stream, buffer, parser, kAsTuple);
  if (body_error) co_return from_error(body_error, options);
  co_return from_parser(parser);
}

template <class Body>
void fill_header(http::response<Body>& wire, const HttpResponse& reply, const Received& received,
                 bool keep_alive) {
  wire.version(received.version);
  wire.result(static_cast<unsigned>(reply.status));
  for (const auto& [name, value] : reply.headers) wire.set(name, value);
  wire.set("X-Content-Type-Options", "nosniff");
  wire.set("X-Request-Id", received.request.id);
  wire.keep_alive(keep_alive);
}

// False when the connection is no longer usable.
template <class Stream>
awaitable<bool> send_whole(Stream& stream, ServerReply reply, const Received& received, bool keep_alive,
                           std::chrono::milliseconds timeout) {
  http::response<http::string_body> wire;
  fill_header(wire, reply, received, keep_alive);
  wire.body() = std::move(reply.body);
  if (reply.status != 204 && reply.status != 304) wire.prepare_payload();
  if (received.request.method == "HEAD") wire.body().clear();  // its length stays announced
  tcp(stream).expires_after(timeout);
  const auto [error, bytes] = co_await http::async_write(stream, wire, kAsTuple);
  co_return !error && keep_alive;
}

template <class Stream>
awaitable<bool> send_stream(Stream& stream, ServerReply reply, const Received& received, bool keep_alive,
                            std::chrono::milliseconds timeout) {
  const bool chunked = received.version >= 11;
  keep_alive = keep_alive && chunked;
  http::response<http::empty_body> wire;
  fill_header(wire, reply, received, keep_alive);
  wire.chunked(chunked);
  http::response_serializer<http::empty_body> serializer(wire);
  tcp(stream).expires_after(timeout);
  const auto [header_error, header_bytes] = co_await http::async_write_header(stream, serializer, kAsTuple);
  if (header_error || received.request.method == "HEAD") co_return !header_error && keep_alive;
  while (true) {
    const std::optional<std::string> piece = co_await reply.next_piece();
    tcp(stream).expires_after(timeout);
    error_code error;
    if (!piece && chunked)
      std::tie(error, std::ignore) = co_await asio::async_write(stream, http::make_chunk_last(), kAsTuple);
    else if (piece && chunked)
      std::tie(error, std::ignore) =
          co_await asio::async_write(stream, http::make_chunk(asio::buffer(*piece)), kAsTuple);
    else if (piece)
      std::tie(error, std::ignore) = co_await asio::async_write(stream, asio::buffer(*piece), kAsTuple);
    if (error || !piece) co_return !error && keep_alive;
  }
}

}  // namespace

HttpSession::HttpSession(Transport transport, const ServerOptions& options, const HttpHandler& handler,
                         const std::function<std::string()>& new_id)
    : transport_(std::move(transport)), options_(options), handler_(handler), new_id_(new_id) {
  error_code gone;
  const auto endpoint = tcp_layer(transport_).socket().remote_endpoint(gone);
  if (!gone) peer_ = HostPort{endpoint.address().to_string(), endpoint.port()}.text();
}

void HttpSession::close() { tcp_layer(transport_).close(); }

void HttpSession::stop_when_idle() {
  stopping_ = true;
  if (idle_) close();
}

awaitable<void> HttpSession::run() {
  if (auto* plain = std::get_if<PlainStream>(&transport_)) {
    co_await serve(*plain);
  } else {
    auto& secured = std::get<TlsStream>(transport_);
    tcp(secured).expires_after(options_.header_timeout);
    const auto [error] = co_await secured.async_handshake(asio::ssl::stream_base::server, kAsTuple);
    if (!error) co_await serve(secured);
  }
}

awaitable<void> HttpSession::refuse() {
  auto* plain = std::get_if<PlainStream>(&transport_);
  if (!plain) co_return;
  Received received;
  received.request.id = new_id_();
  ServerReply reply = problem(503, "too many connections are open; try again soon", received.request.id);
  co_await send_whole(*plain, std::move(reply), received, false, std::chrono::seconds(1));
  co_await finish(*plain);
}

awaitable<ServerReply> HttpSession::answer(ServerRequest request) {
  const std::string id = request.id, what = request.method + " " + request.target;
  ServerReply reply;
  try {
    reply = co_await handler_(std::move(request));
  } catch (const std::exception& error) {
    spdlog::error("request {} {} from {} failed: {}", id, what, peer_, error.what());
    reply = problem(500, "the server failed to answer; its log says why under this request id", id);
  }
  spdlog::debug("request {} {} from {}: {}", id, what, peer_, reply.status);
  co_return reply;
}

// Lets the client read what was sent before the connection goes: closing with unread bytes would reset it.
template <class Stream>
awaitable<void> HttpSession::finish(Stream& stream) {
  error_code ignored;
  tcp(stream).socket().shutdown(Tcp::socket::shutdown_send, ignored);
  tcp(stream).expires_after(std::chrono::seconds(2));
  std::size_t drained = 0;
  while (drained < 2 * options_.max_body) {
    buffer_.clear();
    const auto [error, bytes] = co_await tcp(stream).async_read_some(buffer_.prepare(65536), kAsTuple);
    if (error) break;
    drained += bytes;
  }
}

template <class Stream>
awaitable<void> HttpSession::serve(Stream& stream) {
  bool keep = true;
  while (keep && !stopping_) {
    if (buffer_.size() == 0) {
      idle_ = true;
      tcp(stream).expires_after(options_.idle_timeout);
      const auto [error, bytes] = co_await stream.async_read_some(buffer_.prepare(4096), kAsTuple);
      if (error) co_return;
      buffer_.commit(bytes);
      idle_ = false;
    }
    Received received = co_await receive(stream, buffer_, options_);
    if (received.closed) co_return;
    received.request.id = new_id_();
    received.request.peer = peer_;
    tcp(stream).expires_never();
    ServerReply reply;
    if (received.malformed) {
      spdlog::debug("refused a request from {}: {}", peer_, received.detail);
      reply = problem(*received.malformed, received.detail, received.request.id);
    } else {
      ServerRequest request = received.request;
      received.request.body.clear();
      reply = co_await answer(std::move(request));
    }
    const bool keep_alive = received.keep_alive && !received.malformed && !stopping_;
    if (reply.next_piece)
      keep = co_await send_stream(stream, std::move(reply), received, keep_alive, options_.write_timeout);
    else
      keep = co_await send_whole(stream, std::move(reply), received, keep_alive, options_.write_timeout);
  }
  co_await finish(stream);
}

}  // namespace podium
