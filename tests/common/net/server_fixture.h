// A real HttpServer on a free port, on a thread of its own, and raw sockets to misuse it with.
#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <string>
#include <thread>

#include "common/net/http_client.h"
#include "common/net/http_server.h"

namespace podium {

class TestServer {
 public:
  TestServer(ServerOptions options, HttpHandler handler, ServerHooks hooks = {})
      : tls_(!options.tls_certificate.empty()),
        server_(io_.get_executor(), std::move(options), std::move(handler), std::move(hooks)) {
    server_.start();
    thread_ = std::thread([this] { io_.run(); });
  }

  ~TestServer() {
    stop(std::chrono::seconds(5));
    thread_.join();
  }

  void stop(std::chrono::milliseconds grace) {
    boost::asio::co_spawn(io_, server_.stop(grace), boost::asio::detached);
  }

  Url url() const { return {tls_, "127.0.0.1", server_.port(), "/"}; }
  boost::asio::io_context& io() { return io_; }

 private:
  boost::asio::io_context io_{1};
  bool tls_;
  HttpServer server_;
  std::thread thread_;
};

// Bytes in, bytes out.
class RawClient {
 public:
  explicit RawClient(const Url& url) : socket_(io_) {
    socket_.connect({boost::asio::ip::make_address(url.host), url.port});
  }

  // False once the server has closed the connection.
  bool send(std::string_view bytes) {
    boost::system::error_code error;
    boost::asio::write(socket_, boost::asio::buffer(bytes), error);
    return !error;
  }

  // Everything up to the end of the connection.
  std::string read_all() {
    std::string text;
    boost::system::error_code end;
    boost::asio::read(socket_, boost::asio::dynamic_buffer(text), end);
    return text;
  }

  std::string read_some() {
    std::string text(4096, '\0');
    boost::system::error_code error;
    text.resize(socket_.read_some(boost::asio::buffer(text), error));
    return text;
  }

  void close() { socket_.close(); }

 private:
  boost::asio::io_context io_;
  boost::asio::ip::tcp::socket socket_;
};

}  // namespace podium
