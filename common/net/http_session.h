// One connection of the HTTP server, from its first byte to its last. Internal to common/net.
#pragma once

#include <string>

#include "common/net/http_server.h"
#include "common/net/transport.h"

namespace podium {

// What all connections of a server share; it outlives them.
struct SessionContext {
  const ServerOptions& options;
  const HttpHandler& handler;
  const ServerHooks& hooks;
  const std::function<std::string()>& new_id;  // names requests
  std::uint64_t& room_for_bodies;              // free bytes of ServerOptions::max_bodies
  std::uint64_t& room_for_pieces;              // and of max_pieces
};

struct Received;

class HttpSession {
 public:
  HttpSession(Transport transport, SessionContext context);

  asio::awaitable<void> run();
  asio::awaitable<void> refuse();  // 503: too many connections

  void stop_when_idle();
  void close();

 private:
  template <class Stream>
  asio::awaitable<void> serve(Stream& stream);
  template <class Stream>
  asio::awaitable<bool> reply_to(Stream& stream, Received received);
  template <class Stream>
  asio::awaitable<void> finish(Stream& stream);
  asio::awaitable<ServerReply> answer(Received& received, std::shared_ptr<ClientWatch> client);

  Transport transport_;
  SessionContext context_;
  const ServerOptions& options_ = context_.options;
  beast::flat_buffer buffer_;
  std::string peer_;
  bool idle_ = true;  // no byte of the next request has arrived
  bool stopping_ = false;
  bool unread_ = false;  // a body that was refused is still on its way
};

}  // namespace podium
