#include <sys/socket.h>

#include <utility>

#include "worker/comm/rendezvous.h"

namespace podium {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kPoll{50};  // how soon threads notice that the server stops
constexpr milliseconds kHelloTimeout{5000};
constexpr milliseconds kSendTimeout{10000};
constexpr auto kNever = std::chrono::hours(24 * 365);

Deadline after(std::chrono::steady_clock::duration timeout) {
  return std::chrono::steady_clock::now() + timeout;
}

// Takes as long for a wrong guess as for a right one of the same length.
bool equal_in_constant_time(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  return difference == 0;
}

}  // namespace

RendezvousServer::RendezvousServer(const std::string& host, int port, std::string secret, int most_clients)
    : secret_(std::move(secret)),
      most_clients_(most_clients),
      listener_(listen_on(host, port)),
      port_(port_of(listener_)),
      accepting_([this] { accept_clients(); }) {}

RendezvousServer::~RendezvousServer() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  accepting_.join();
  for (Client& client : clients_) {
    ::shutdown(client.socket.get(), SHUT_RDWR);  // wakes a thread that waits for its client
    client.thread.join();
  }
}

void RendezvousServer::accept_clients() {
  while (!stopping_) {
    auto socket = accept_within(listener_, kPoll);
    forget_finished();
    if (!socket || clients_.size() >= static_cast<std::size_t>(most_clients_)) continue;
    Client& client = clients_.emplace_back();
    client.socket = std::move(*socket);
    client.thread = std::thread([this, &client] {
      serve(client);
      client.done = true;
    });
  }
}

void RendezvousServer::forget_finished() {
  clients_.remove_if([](Client& client) {
    if (!client.done) return false;
    client.thread.join();
    return true;
  });
}

// A client that breaks the protocol, or leaves, only ends its own thread.
void RendezvousServer::serve(Client& client) {
  try {
    converse(client);
  } catch (const SocketError&) {  // it has left
  }
  if (client.announced.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    values_.emplace(kGoneKey, client.announced);
  }
  changed_.notify_all();
}

void RendezvousServer::converse(Client& client) {
  const Fd& socket = client.socket;
  const std::string hello = receive_frame(socket, after(kHelloTimeout));
  if (!hello.starts_with('H') || !equal_in_constant_time(std::string_view(hello).substr(1), secret_)) return;
  send_frame(socket, "K", after(kSendTimeout));
  while (!stopping_) {
    const std::string reply = answer(client, receive_frame(socket, after(kNever)));
    if (reply.empty()) return;
    send_frame(socket, reply, after(kSendTimeout));
  }
}

std::string RendezvousServer::answer(Client& client, std::string_view request) {
  if (request.starts_with('G')) return wait_for_value(std::string(request.substr(1)));
  if (request.starts_with('A')) {
    client.announced = request.substr(1);
    return "K";
  }
  const std::size_t separator = request.find('\0');
  if (!request.starts_with('S') || separator == std::string_view::npos) return "";
  {
    const std::lock_guard lock(mutex_);
    values_[std::string(request.substr(1, separator - 1))] = request.substr(separator + 1);
  }
  changed_.notify_all();
  return "K";
}

std::string RendezvousServer::wait_for_value(const std::string& key) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return stopping_ || values_.contains(key); });
  return stopping_ ? "" : "V" + values_[key];
}

}  // namespace podium
