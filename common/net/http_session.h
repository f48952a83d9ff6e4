// One connection of the HTTP server, from its first byte to its last. Internal to common/net.
#pragma once

#include <string>

#include "common/net/http_server.h"
#include "common/net/transport.h"

namespace podium {

class HttpSession {
 public:
  // `new_id` names requests. The references outlive the session.
  HttpSession(Transport transport, const ServerOptions& options, const HttpHandler& handler,
              const std::function<std::string()>& new_id);

  asio::awaitable<void> run();
  asio::awaitable<void> refuse();  // 503: too many connections

  void stop_when_idle();
  void close();

 private:
  template <class Stream>
  asio::awaitable<void> serve(Stream& stream);
  template <class Stream>
  asio::awaitable<void> finish(Stream& stream);
  asio::awaitable<ServerReply> answer(ServerRequest request);

  Transport transport_;
  const ServerOptions& options_;
  const HttpHandler& handler_;
  const std::function<std::string()>& new_id_;
  beast::flat_buffer buffer_;
  std::string peer_;
  bool idle_ = true;  // no byte of the next request has arrived
  bool stopping_ = false;
};

}  // namespace podium
