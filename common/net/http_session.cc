#include "common/net/http_session.h"

#include <sys/socket.h>

#include <array>
#include <boost/beast/http.hpp>
#include <cerrno>
#include <ctime>
#include <utility>

#include "common/base/logging.h"
#include "common/net/http_receive.h"
#include "common/net/problem.h"

namespace podium {
namespace {

namespace http = beast::http;
using asio::awaitable;

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

constexpr std::size_t kLongAnswer = 256 * 1024;

// A long answer gets the time for a piece for each of its pieces.
void send_in_pieces(ServerReply& reply) {
  reply.headers.set("Content-Length", std::to_string(reply.body.size()));
  reply.next_piece = [body = std::move(reply.body),
                      at = std::size_t{0}]() mutable -> awaitable<std::optional<std::string>> {
    if (at == body.size()) co_return std::nullopt;
    std::string piece = body.substr(at, kLongAnswer);
    at += piece.size();
    co_return piece;
  };
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
  const std::string* length = reply.headers.find("Content-Length");
  const bool chunked = !length && received.version >= 11;
  keep_alive = keep_alive && (length || chunked);
  std::uint64_t left = length ? std::stoull(*length) : 0;
  http::response<http::empty_body> wire;
  fill_header(wire, reply, received, keep_alive);
  if (chunked) wire.chunked(true);
  http::response_serializer<http::empty_body> serializer(wire);
  tcp(stream).expires_after(timeout);
  const auto [header_error, header_bytes] = co_await http::async_write_header(stream, serializer, kAsTuple);
  if (header_error || received.request.method == "HEAD") co_return !header_error && keep_alive;
  while (true) {
    const std::optional<std::string> piece = co_await reply.next_piece();
    if (piece && length) left -= piece->size();
    tcp(stream).expires_after(timeout);
    error_code error;
    if (!piece && chunked)
      std::tie(error, std::ignore) = co_await asio::async_write(stream, http::make_chunk_last(), kAsTuple);
    else if (piece && chunked)
      std::tie(error, std::ignore) =
          co_await asio::async_write(stream, http::make_chunk(asio::buffer(*piece)), kAsTuple);
    else if (piece)
      std::tie(error, std::ignore) = co_await asio::async_write(stream, asio::buffer(*piece), kAsTuple);
    if (error || !piece) co_return !error && keep_alive && left == 0;
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

// What answers a request that was not refused.
awaitable<ServerReply> HttpSession::answer(Received& received, std::shared_ptr<ClientWatch> client) {
  ServerReply reply;
  try {
    if (received.sink) {
      reply = co_await received.sink->finish();
    } else {
      std::string body = std::exchange(received.request.body, {});
      ServerRequest request = received.request;
      request.body = std::move(body);
      request.client = std::move(client);
      reply = co_await context_.handler(std::move(request));
    }
  } catch (const std::exception& error) {
    reply = failed(received.request, error);
  }
  spdlog::debug("request {} {} {} from {}: {}", received.request.id, received.request.method,
                received.request.target, peer_, reply.status);
  co_return reply;
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
    std::shared_ptr<ClientWatch> client;
    if (options_.watch_clients) {
      client = std::make_shared<ClientWatch>();
      watched.emplace(tcp(stream).socket(), client);
    }
    reply = co_await answer(received, std::move(client));
  }
  if (context_.hooks.form) reply = context_.hooks.form(received.request, std::move(reply));
  unread_ = received.unread;
  const bool keep_alive = received.keep_alive && !received.malformed && !stopping_;
  const auto timeout = options_.write_timeout;
  if (!reply.next_piece && reply.body.size() > kLongAnswer) send_in_pieces(reply);
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
    Received received = co_await receive(stream, buffer_, context_, peer_);
    if (received.closed) co_return;
    keep = co_await reply_to(stream, std::move(received));
  }
  co_await finish(stream);
}

}  // namespace podium
