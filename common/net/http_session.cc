#include "common/net/http_session.h"

#include <sys/socket.h>

#include <array>
#include <boost/beast/http.hpp>
#include <cerrno>
#include <ctime>
#include <utility>

#include "common/base/logging.h"
#include "common/net/problem.h"

namespace podium {

// Of ServerOptions::max_bodies, while its request is dealt with.
class BodyRoom {
 public:
  BodyRoom() = default;
  BodyRoom(std::uint64_t& left, std::uint64_t bytes) : left_(&left), bytes_(bytes) { left -= bytes; }
  BodyRoom(BodyRoom&& other) noexcept : left_(std::exchange(other.left_, nullptr)), bytes_(other.bytes_) {}
  BodyRoom& operator=(BodyRoom&& other) noexcept {
    std::swap(left_, other.left_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~BodyRoom() {
    if (left_) *left_ += bytes_;
  }

 private:
  std::uint64_t* left_ = nullptr;
  std::uint64_t bytes_ = 0;
};

struct Received {
  bool closed = false;                 // nothing more to do on this connection
  std::optional<ServerReply> refusal;  // instead of the handler's answer
  bool malformed = false;  // what follows on the connection cannot be understood, or is not wanted
  unsigned version = 11;
  bool keep_alive = false;
  ServerRequest request;
  BodyRoom room;
};

namespace {

namespace http = beast::http;
using asio::awaitable;
using RequestParser = http::request_parser<http::string_body>;

beast::tcp_stream& tcp(PlainStream& stream) { return stream; }
beast::tcp_stream& tcp(TlsStream& stream) { return stream.next_layer(); }

void turn_down(Received& out, int status, const std::string& detail) {
  out.malformed = true;
  out.refusal = problem(status, detail, out.request.id);
}

void turn_down(Received& out, const error_code& error, const ServerOptions& options) {
  if (error == http::error::header_limit)
    turn_down(out, 431, "the request header is larger than " + std::to_string(options.max_header) + " bytes");
  else if (error == http::error::body_limit)
    turn_down(out, 413, "the body is larger than " + std::to_string(options.max_body) + " bytes");
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

template <class Stream>
awaitable<error_code> send_continue(Stream& stream, const ServerOptions& options) {
  http::response<http::empty_body> proceed(http::status::continue_, 11);
  tcp(stream).expires_after(options.write_timeout);
  const auto [error, bytes] = co_await http::async_write(stream, proceed, kAsTuple);
  co_return error;
}

// By which clients tell how old something is, whatever their own clocks say.
std::string date_of(std::time_t now) {
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::array<char, 40> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &utc);
  return {text.data(), length};
}

template <class Body>
void fill_header(http::response<Body>& wire, const HttpResponse& reply, const Received& received,
                 bool keep_alive) {
  wire.version(received.version);
  wire.result(static_cast<unsigned>(reply.status));
  for (const auto& [name, value] : reply.headers) wire.set(name, value);
  wire.set("Date", date_of(std::time(nullptr)));
  wire.set("X-Content-Type-Options", "nosniff");
  wire.set("X-Request-Id", received.request.id);
  wire.keep_alive(keep_alive);
}

// Nothing reads from the socket while a request is answered: what comes is looked at, and stays there.
void watch_socket(Tcp::socket& socket, const std::shared_ptr<ClientWatch>& watch) {
  socket.async_wait(Tcp::socket::wait_read, [&socket, watch](const error_code& error) {
    if (error || watch->has_ended()) return;
    char next = 0;
    const ssize_t count = ::recv(socket.native_handle(), &next, 1, MSG_PEEK | MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return watch_socket(socket, watch);
    if (count <= 0) watch->leave();
  });
}

// While a request is answered.
class WatchedSocket {
 public:
  WatchedSocket(Tcp::socket& socket, std::shared_ptr<ClientWatch> watch)
      : socket_(socket), watch_(std::move(watch)) {
    watch_socket(socket_, watch_);
  }
  WatchedSocket(const WatchedSocket&) = delete;
  ~WatchedSocket() {
    watch_->end();
    error_code ignored;
    socket_.cancel(ignored);
  }

 private:
  Tcp::socket& socket_;
  std::shared_ptr<ClientWatch> watch_;
};

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

HttpSession::HttpSession(Transport transport, SessionContext context)
    : transport_(std::move(transport)), context_(context) {
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
  received.request.id = context_.new_id();
  ServerReply reply = problem(503, "too many connections are open; try again soon", received.request.id);
  co_await send_whole(*plain, std::move(reply), received, false, std::chrono::seconds(1));
  co_await finish(*plain);
}

awaitable<ServerReply> HttpSession::answer(ServerRequest request) {
  const std::string id = request.id, what = request.method + " " + request.target;
  ServerReply reply;
  try {
    reply = co_await context_.handler(std::move(request));
  } catch (const std::exception& error) {
    spdlog::error("request {} {} from {} failed: {}", id, what, peer_, error.what());
    reply = problem(500, "the server failed to answer; its log says why under this request id", id);
  }
  spdlog::debug("request {} {} from {}: {}", id, what, peer_, reply.status);
  co_return reply;
}

// A request up to the end of its body, or what is wrong with it; who may send it is decided before its body.
template <class Stream>
awaitable<Received> HttpSession::receive(Stream& stream) {
  Received out;
  out.request.id = context_.new_id();
  out.request.peer = peer_;
  RequestParser parser;
  parser.header_limit(options_.max_header);
  parser.body_limit(options_.max_body);
  tcp(stream).expires_after(options_.header_timeout);
  const auto [header_error, header_bytes] =
      co_await http::async_read_header(stream, buffer_, parser, kAsTuple);
  if (header_error) {
    unread_ = header_error == http::error::body_limit;
    turn_down(out, header_error, options_);
    co_return out;
  }
  take_head(parser, out);
  if (!out.refusal && context_.check) out.refusal = context_.check(out.request);
  const std::uint64_t size = parser.chunked() ? options_.max_body : parser.content_length().value_or(0);
  if (!out.refusal && size > options_.small_body) {
    if (context_.room_for_bodies < size)
      turn_down(out, 503, "the server is reading many large requests; send this one again soon");
    else
      out.room = BodyRoom(context_.room_for_bodies, size);
  }
  if (out.refusal) {
    unread_ = !parser.is_done();
    out.malformed = out.malformed || unread_;
    co_return out;
  }
  if (equal_ignoring_case(std::string_view(parser.get()[http::field::expect]), "100-continue")) {
    const error_code error = co_await send_continue(stream, options_);
    out.closed = static_cast<bool>(error);
    if (error) co_return out;
  }
  tcp(stream).expires_after(options_.body_timeout);
  const auto [body_error, body_bytes] = co_await http::async_read(stream, buffer_, parser, kAsTuple);
  if (body_error) {
    unread_ = body_error == http::error::body_limit;
    turn_down(out, body_error, options_);
  } else {
    out.request.body = std::move(parser.get().body());
  }
  co_return out;
}

// Lets the client read what was sent before the connection goes: closing with unread bytes would reset it.
// One that still sends a body which was refused may need a while before it looks.
template <class Stream>
awaitable<void> HttpSession::finish(Stream& stream) {
  error_code ignored;
  tcp(stream).socket().shutdown(Tcp::socket::shutdown_send, ignored);
  tcp(stream).expires_after(std::chrono::seconds(unread_ ? 15 : 2));
  while (true) {
    buffer_.clear();
    const auto [error, bytes] = co_await tcp(stream).async_read_some(buffer_.prepare(65536), kAsTuple);
    if (error) break;
  }
}

// False when the connection is no longer usable.
template <class Stream>
awaitable<bool> HttpSession::reply_to(Stream& stream, Received received) {
  tcp(stream).expires_never();
  ServerReply reply;
  std::optional<WatchedSocket> watched;
  if (received.refusal) {
    spdlog::debug("refused a request from {}: {}", peer_, received.refusal->status);
    reply = std::move(*received.refusal);
  } else {
    std::string body = std::exchange(received.request.body, {});
    ServerRequest request = received.request;
    request.body = std::move(body);
    if (options_.watch_clients) {
      request.client = std::make_shared<ClientWatch>();
      watched.emplace(tcp(stream).socket(), request.client);
    }
    reply = co_await answer(std::move(request));
  }
  const bool keep_alive = received.keep_alive && !received.malformed && !stopping_;
  const auto timeout = options_.write_timeout;
  if (reply.next_piece)
    co_return co_await send_stream(stream, std::move(reply), received, keep_alive, timeout);
  co_return co_await send_whole(stream, std::move(reply), received, keep_alive, timeout);
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
    Received received = co_await receive(stream);
    if (received.closed) co_return;
    keep = co_await reply_to(stream, std::move(received));
  }
  co_await finish(stream);
}

}  // namespace podium
