#include "common/net/http_receive.h"

#include <algorithm>
#include <boost/beast/http.hpp>

#include "common/base/logging.h"
#include "common/net/problem.h"

namespace podium {
namespace {

namespace http = beast::http;
using asio::awaitable;
using RequestParser = http::request_parser<http::string_body>;

constexpr std::uint64_t kLongestPiece = 256 * 1024;  // of a body that goes to a sink

void turn_down(Received& out, int status, const std::string& detail) {
  out.malformed = true;
  out.refusal = problem(status, detail, out.request.id);
}

void turn_down_size(Received& out, std::uint64_t most) {
  out.unread = true;
  turn_down(out, 413, "the body is larger than " + std::to_string(most) + " bytes");
}

void turn_down(Received& out, const error_code& error, const ServerOptions& options) {
  if (error == http::error::header_limit)
    turn_down(out, 431, "the request header is larger than " + std::to_string(options.max_header) + " bytes");
  else if (error == http::error::body_limit)
    turn_down_size(out, out.sink ? out.sink->most() : options.max_body);
  else if (error != http::error::end_of_stream && error != http::error::partial_message &&
           error.category() == http::make_error_code(http::error::bad_method).category())
    turn_down(out, 400, "this is not an HTTP/1.1 request: " + error.message());
  else
    out.closed = true;
}

// Fields that decide who may do what: two of one mean something else to everyone who reads them.
constexpr http::field kOnce[] = {http::field::host, http::field::authorization, http::field::origin,
                                 http::field::content_type};

void take_head(const RequestParser& parser, Received& out) {
  const auto& message = parser.get();
  out.version = message.version();
  out.keep_alive = message.keep_alive();
  out.request.method = std::string(message.method_string());
  out.request.target = std::string(message.target());
  out.request.headers = headers_from(message.base());
  for (const http::field field : kOnce)
    if (message.count(field) > 1)
      return turn_down(out, 400,
                       "the field " + std::string(http::to_string(field)) + " is there twice; send it once");
  if (out.version >= 11 && !out.request.headers.find("Host"))
    turn_down(out, 400, "an HTTP/1.1 request needs a Host field");
}

// What is decided once the header is there: whether the body is wanted, where it goes and whether it has
// room.
void decide(RequestParser& parser, const SessionContext& context, Received& out) {
  const ServerOptions& options = context.options;
  if (context.hooks.check) out.refusal = context.hooks.check(out.request);
  if (out.refusal) return;
  if (context.hooks.sink) out.sink = context.hooks.sink(out.request);
  const std::uint64_t most = out.sink ? out.sink->most() : options.max_body;
  const std::uint64_t size = parser.chunked() ? most : parser.content_length().value_or(0);
  if (size > most) return turn_down_size(out, most);
  parser.body_limit(most);
  if (out.sink) out.piece = std::min(size, kLongestPiece);
  const std::uint64_t held = out.sink ? out.piece : size <= options.small_body ? 0 : size;
  std::uint64_t& room = out.sink ? context.room_for_pieces : context.room_for_bodies;
  if (room < held)
    return turn_down(out, 503, "the server is reading many large requests; send this one again soon");
  out.room = BodyRoom(room, held);
}

template <class Stream>
awaitable<error_code> send_continue(Stream& stream, const ServerOptions& options) {
  http::response<http::empty_body> proceed(http::status::continue_, 11);
  tcp(stream).expires_after(options.write_timeout);
  const auto [error, bytes] = co_await http::async_write(stream, proceed, kAsTuple);
  co_return error;
}

awaitable<std::optional<ServerReply>> hand_over(Received& out, std::string piece) {
  try {
    co_return co_await out.sink->take(std::move(piece));
  } catch (const std::exception& error) {
    co_return failed(out.request, error);
  }
}

template <class Stream>
awaitable<void> stream_body(Stream& stream, beast::flat_buffer& buffer, RequestParser& head,
                            const ServerOptions& options, Received& out) {
  http::request_parser<http::buffer_body> parser(std::move(head));
  while (!parser.is_done()) {
    std::string piece(out.piece, '\0');
    auto& body = parser.get().body();
    body.data = piece.data();
    body.size = piece.size();
    tcp(stream).expires_after(options.body_timeout);
    const auto [error, bytes] = co_await http::async_read(stream, buffer, parser, kAsTuple);
    if (error && error != http::error::need_buffer) co_return turn_down(out, error, options);
    piece.resize(out.piece - body.size);
    tcp(stream).expires_never();
    if (piece.empty()) continue;
    out.refusal = co_await hand_over(out, std::move(piece));
    if (!out.refusal) continue;
    out.unread = !parser.is_done();
    out.malformed = out.unread;
    co_return;
  }
}

template <class Stream>
awaitable<void> read_body(Stream& stream, beast::flat_buffer& buffer, RequestParser& parser,
                          const ServerOptions& options, Received& out) {
  tcp(stream).expires_after(options.body_timeout);
  const auto [error, bytes] = co_await http::async_read(stream, buffer, parser, kAsTuple);
  if (error)
    turn_down(out, error, options);
  else
    out.request.body = std::move(parser.get().body());
}

}  // namespace

beast::tcp_stream& tcp(PlainStream& stream) { return stream; }
beast::tcp_stream& tcp(TlsStream& stream) { return stream.next_layer(); }

ServerReply failed(const ServerRequest& request, const std::exception& error) {
  spdlog::error("request {} {} {} from {} failed: {}", request.id, request.method, request.target,
                request.peer, error.what());
  return problem(500, "the server failed to answer; its log says why under this request id", request.id);
}

template <class Stream>
awaitable<Received> receive(Stream& stream, beast::flat_buffer& buffer, const SessionContext& context,
                            std::string peer) {
  const ServerOptions& options = context.options;
  Received out;
  out.request.id = context.new_id();
  out.request.peer = std::move(peer);
  RequestParser parser;
  parser.header_limit(options.max_header);
  parser.body_limit(boost::none);  // it follows from the header
  tcp(stream).expires_after(options.header_timeout);
  const auto [header_error, header_bytes] =
      co_await http::async_read_header(stream, buffer, parser, kAsTuple);
  if (header_error) {
    turn_down(out, header_error, options);
    co_return out;
  }
  take_head(parser, out);
  if (!out.refusal) decide(parser, context, out);
  if (out.refusal) {
    out.unread = !parser.is_done();
    out.malformed = out.malformed || out.unread;
    co_return out;
  }
  if (equal_ignoring_case(std::string_view(parser.get()[http::field::expect]), "100-continue")) {
    const error_code error = co_await send_continue(stream, options);
    out.closed = static_cast<bool>(error);
    if (error) co_return out;
  }
  if (out.sink)
    co_await stream_body(stream, buffer, parser, options, out);
  else
    co_await read_body(stream, buffer, parser, options, out);
  co_return out;
}

template awaitable<Received> receive(PlainStream&, beast::flat_buffer&, const SessionContext&, std::string);
template awaitable<Received> receive(TlsStream&, beast::flat_buffer&, const SessionContext&, std::string);

}  // namespace podium
