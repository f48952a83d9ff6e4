#include "worker/comm/rendezvous.h"

namespace podium {
RendezvousClient::RendezvousClient(const std::string& host, int port, const std::string& secret,
                                   std::chrono::milliseconds timeout, const std::atomic<bool>* stop)
    : stop_(stop), timeout_(timeout), socket_(connect_before(host, port, after(timeout))) {
  try {
    call("H" + secret, timeout);
  } catch (const SocketError& error) {
    throw SocketError("the rendezvous at " + host + ":" + std::to_string(port) +
                      " refused this process: " + error.what());
  }
}

Deadline RendezvousClient::after(std::chrono::milliseconds timeout) const {
  return {std::chrono::steady_clock::now() + timeout, stop_};
}

void RendezvousClient::set(const std::string& key, std::string_view value) {
  std::string request = "S" + key;
  request.push_back('\0');
  request.append(value);
  call(request, timeout_);
}

void RendezvousClient::announce(const std::string& name) { call("A" + name, timeout_); }

std::string RendezvousClient::get(const std::string& key, std::chrono::milliseconds timeout) {
  return call("G" + key, timeout).substr(1);
}

std::string RendezvousClient::call(std::string_view request, std::chrono::milliseconds timeout) {
  const Deadline deadline = after(timeout);
  send_frame(socket_, request, deadline);
  std::string reply = receive_frame(socket_, deadline);
  if (reply.empty()) throw SocketError("the rendezvous sent an empty answer");
  return reply;
}

}  // namespace podium
