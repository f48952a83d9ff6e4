#include "common/net/http_server.h"

#include <boost/asio/steady_timer.hpp>
#include <set>

#include "common/base/check.h"
#include "common/base/logging.h"
#include "common/net/http_session.h"
#include "common/net/spawn.h"
#include "common/net/token.h"

namespace podium {

using asio::awaitable;

class HttpServer::Impl {
 public:
  Impl(asio::any_io_executor executor, ServerOptions options, HttpHandler handler, ServerHooks hooks);

  awaitable<void> accept_loop(std::shared_ptr<Impl> self);
  awaitable<void> stop(std::chrono::milliseconds grace);
  void close();
  const asio::any_io_executor& executor() const { return executor_; }
  std::uint16_t port() const { return port_; }
  std::size_t connections() const { return sessions_.size(); }

 private:
  awaitable<void> session(std::shared_ptr<Impl> self, Tcp::socket socket, bool refuse);
  Transport make_transport(Tcp::socket socket);

  asio::any_io_executor executor_;
  ServerOptions options_;
  HttpHandler handler_;
  ServerHooks hooks_;
  std::optional<asio::ssl::context> tls_;
  Tcp::acceptor acceptor_;
  std::uint16_t port_ = 0;
  std::set<HttpSession*> sessions_;  // each lives in its coroutine
  std::string id_prefix_ = random_hex(4);
  std::uint64_t requests_ = 0;
  std::uint64_t room_for_bodies_ = options_.max_bodies;
  std::uint64_t room_for_pieces_ = options_.max_pieces;
  std::function<std::string()> new_id_ = [this] { return id_prefix_ + "-" + std::to_string(++requests_); };
};

namespace {

// Of a name the first address that it has.
Tcp::endpoint endpoint_of(const HostPort& listen, const asio::any_io_executor& executor) {
  error_code not_literal;
  const auto address = asio::ip::make_address(listen.host, not_literal);
  if (!not_literal) return {address, listen.port};
  return *Tcp::resolver(executor).resolve(listen.host, std::to_string(listen.port)).begin();
}

}  // namespace

HttpServer::Impl::Impl(asio::any_io_executor executor, ServerOptions options, HttpHandler handler,
                       ServerHooks hooks)
    : executor_(std::move(executor)),
      options_(std::move(options)),
      handler_(std::move(handler)),
      hooks_(std::move(hooks)),
      acceptor_(executor_) {
  if (!options_.tls_certificate.empty())
    tls_.emplace(make_server_tls(options_.tls_certificate, options_.tls_key));
  try {
    const Tcp::endpoint endpoint = endpoint_of(options_.listen, executor_);
    acceptor_.open(endpoint.protocol());
    acceptor_.set_option(Tcp::acceptor::reuse_address(true));
    acceptor_.bind(endpoint);
    acceptor_.listen();
    port_ = acceptor_.local_endpoint().port();
  } catch (const boost::system::system_error& error) {
    const std::string what = "cannot listen on " + options_.listen.text() + ": " + error.code().message();
    if (error.code() == asio::error::address_in_use)
      throw AddressTaken(what + "; stop the program that does, or choose another port");
    throw std::runtime_error(what);
  }
}

Transport HttpServer::Impl::make_transport(Tcp::socket socket) {
  error_code ignored;  // a client that is gone already is noticed by the first read
  socket.set_option(Tcp::no_delay(true), ignored);
  if (tls_) return Transport(std::in_place_type<TlsStream>, std::move(socket), *tls_);
  return Transport(std::in_place_type<PlainStream>, std::move(socket));
}

awaitable<void> HttpServer::Impl::accept_loop(std::shared_ptr<Impl> self) {
  while (acceptor_.is_open()) {
    auto [error, socket] = co_await acceptor_.async_accept(kAsTuple);
    if (!acceptor_.is_open()) break;
    if (error) {
      spdlog::warn("cannot accept a connection: {}; trying again", error.message());
      asio::steady_timer pause(executor_, std::chrono::milliseconds(100));
      co_await pause.async_wait(kAsTuple);
      continue;
    }
    // Refusals are answered too, but only so many at once.
    if (sessions_.size() >= options_.max_connections + 64) continue;
    const bool refuse = sessions_.size() >= options_.max_connections;
    spawn(executor_, "http session", session(self, std::move(socket), refuse));
  }
}

awaitable<void> HttpServer::Impl::session(std::shared_ptr<Impl> self, Tcp::socket socket, bool refuse) {
  HttpSession session(make_transport(std::move(socket)),
                      {options_, handler_, hooks_, new_id_, room_for_bodies_, room_for_pieces_});
  struct Listed {
    std::set<HttpSession*>& sessions;
    HttpSession* session;
    ~Listed() { sessions.erase(session); }
  } listed{self->sessions_, &session};
  sessions_.insert(&session);
  if (refuse)
    co_await session.refuse();
  else
    co_await session.run();
}

awaitable<void> HttpServer::Impl::stop(std::chrono::milliseconds grace) {
  acceptor_.close();
  for (HttpSession* session : sessions_) session->stop_when_idle();
  asio::steady_timer pause(executor_);
  const auto deadline = std::chrono::steady_clock::now() + grace;
  while (!sessions_.empty() && std::chrono::steady_clock::now() < deadline) {
    pause.expires_after(std::chrono::milliseconds(10));
    co_await pause.async_wait(kAsTuple);
  }
  close();
}

void HttpServer::Impl::close() {
  acceptor_.close();
  for (HttpSession* session : sessions_) session->close();
}

HttpServer::HttpServer(asio::any_io_executor executor, ServerOptions options, HttpHandler handler,
                       ServerHooks hooks)
    : impl_(std::make_shared<Impl>(std::move(executor), std::move(options), std::move(handler),
                                   std::move(hooks))) {}

HttpServer::~HttpServer() { impl_->close(); }

void HttpServer::start() { spawn(impl_->executor(), "http listener", impl_->accept_loop(impl_)); }
std::uint16_t HttpServer::port() const { return impl_->port(); }
std::size_t HttpServer::connections() const { return impl_->connections(); }
awaitable<void> HttpServer::stop(std::chrono::milliseconds grace) { return impl_->stop(grace); }

}  // namespace podium
