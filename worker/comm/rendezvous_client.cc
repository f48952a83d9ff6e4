#include <initializer_list>

#include "worker/comm/rendezvous.h"

namespace podium {
namespace {

constexpr std::chrono::seconds kForTheWay{30};  // that an answer may come after the server sent it

std::string request_of(char kind, std::initializer_list<std::string> arguments) {
  std::string request(1, kind);
  for (const std::string& argument : arguments) request.append(argument).push_back('\0');
  request.pop_back();  // NUL stands between them
  return request;
}

}  // namespace

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
  call(request_of('S', {key, std::string(value)}), timeout_);
}

void RendezvousClient::announce(const std::string& name) { call("A" + name, timeout_); }

std::string RendezvousClient::get(const std::string& key, std::chrono::milliseconds timeout) {
  return call("G" + key, timeout).substr(1);
}

std::optional<int> RendezvousClient::wait_for_all(const std::string& key, int count,
                                                  std::chrono::milliseconds timeout) {
  const std::string reply = call(
      request_of('W', {key, std::to_string(count), std::to_string(timeout.count())}), timeout + kForTheWay);
  if (reply == "K") return std::nullopt;
  return std::stoi(reply.substr(1));
}

std::string RendezvousClient::parts_of_all(const std::string& key, int count, std::size_t begin,
                                           std::size_t size) {
  return call(request_of('P', {key, std::to_string(count), std::to_string(begin), std::to_string(size)}),
              timeout_)
      .substr(1);
}

std::string RendezvousClient::call(std::string_view request, std::chrono::milliseconds timeout) {
  const Deadline deadline = after(timeout);
  send_frame(socket_, request, deadline);
  std::string reply = receive_frame(socket_, deadline);
  if (reply.empty()) throw SocketError("the rendezvous sent an empty answer");
  return reply;
}

}  // namespace podium
