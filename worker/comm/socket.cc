#include "worker/comm/socket.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <thread>

#include "worker/comm/communicator.h"

namespace podium {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kStopPoll{100};  // how soon a raised stop is noticed

std::string place(const std::string& host, int port) { return host + ":" + std::to_string(port); }

std::string reason() { return std::strerror(errno); }

struct FreeAddresses {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

Addresses resolve(const std::string& host, int port, int flags) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* list = nullptr;
  const int status = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
  if (status != 0) throw SocketError("cannot resolve " + host + ": " + ::gai_strerror(status));
  return Addresses(list);
}

Fd make_socket(const addrinfo& address) {
  Fd made(
      ::socket(address.ai_family, address.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, address.ai_protocol));
  if (!made) throw SocketError("cannot make a socket: " + reason());
  return made;
}

// The time left, in milliseconds, at most `most`; throws where nothing is left or stop is raised.
milliseconds left_of(const Deadline& deadline, milliseconds most) {
  if (deadline.stop && *deadline.stop) throw StopRequested("asked to stop while waiting for the other ranks");
  const auto left = std::chrono::ceil<milliseconds>(deadline.time - std::chrono::steady_clock::now());
  if (left.count() <= 0) throw SocketError("the peer did not answer in time");
  return std::min(left, most);
}

// Waits until the socket can be read or written; throws at the deadline.
void wait_for(const Fd& socket, short events, Deadline deadline) {
  for (;;) {
    pollfd entry{socket.get(), events, 0};
    const int ready = ::poll(&entry, 1, static_cast<int>(left_of(deadline, kStopPoll).count()));
    if (ready > 0) return;
    if (ready < 0 && errno != EINTR) throw SocketError("poll: " + reason());
  }
}

// Connects to one address; nothing where it is refused.
std::optional<Fd> try_connect(const addrinfo& address, Deadline deadline) {
  Fd made = make_socket(address);
  if (::connect(made.get(), address.ai_addr, address.ai_addrlen) != 0) {
    if (errno != EINPROGRESS) return std::nullopt;
    wait_for(made, POLLOUT, deadline);
    int error = 0;
    socklen_t length = sizeof error;
    ::getsockopt(made.get(), SOL_SOCKET, SO_ERROR, &error, &length);
    if (error != 0) return std::nullopt;
  }
  send_without_delay(made);
  return made;
}

}  // namespace

Fd listen_on(const std::string& host, int port) {
  const Addresses addresses = resolve(host, port, AI_PASSIVE);
  Fd made = make_socket(*addresses);
  const int on = 1;
  ::setsockopt(made.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(made.get(), addresses->ai_addr, addresses->ai_addrlen) != 0 ||
      ::listen(made.get(), SOMAXCONN) != 0) {
    if (errno == EADDRINUSE)
      throw AddressInUse("cannot listen on " + place(host, port) + ": the port is taken");
    throw SocketError("cannot listen on " + place(host, port) + ": " + reason());
  }
  return made;
}

int port_of(const Fd& socket) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  std::array<char, NI_MAXSERV> port{};
  if (::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &length) != 0 ||
      ::getnameinfo(reinterpret_cast<sockaddr*>(&address), length, nullptr, 0, port.data(), port.size(),
                    NI_NUMERICSERV) != 0)
    throw SocketError("a socket without a port: " + reason());
  return std::stoi(port.data());
}

void send_without_delay(const Fd& socket) {
  const int on = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

Fd connect_before(const std::string& host, int port, Deadline deadline) {
  constexpr milliseconds kRetry{20};
  while (true) {
    const Addresses addresses = resolve(host, port, 0);
    for (const addrinfo* address = addresses.get(); address; address = address->ai_next)
      if (auto socket = try_connect(*address, deadline)) return std::move(*socket);
    if (std::chrono::steady_clock::now() + kRetry >= deadline.time)
      throw SocketError("nobody answers at " + place(host, port));
    std::this_thread::sleep_for(left_of(deadline, kRetry));
  }
}

std::string local_address(const Fd& socket) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  std::array<char, NI_MAXHOST> host{};
  if (::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &length) != 0 ||
      ::getnameinfo(reinterpret_cast<sockaddr*>(&address), length, host.data(), host.size(), nullptr, 0,
                    NI_NUMERICHOST) != 0)
    throw SocketError("a socket without an address: " + reason());
  return host.data();
}

void send_all(const Fd& socket, std::string_view bytes, Deadline deadline) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      wait_for(socket, POLLOUT, deadline);
    } else if (errno != EINTR) {
      throw SocketError("cannot send: " + reason());
    }
  }
}

std::string receive(const Fd& socket, std::size_t size, Deadline deadline) {
  std::string bytes(size, '\0');
  for (std::size_t used = 0; used < size;) {
    const ssize_t got = ::recv(socket.get(), bytes.data() + used, size - used, 0);
    if (got == 0) throw SocketError("the peer closed the connection");
    if (got > 0) {
      used += static_cast<std::size_t>(got);
    } else if (errno == EAGAIN) {
      wait_for(socket, POLLIN, deadline);
    } else if (errno != EINTR) {
      throw SocketError("cannot receive: " + reason());
    }
  }
  return bytes;
}

std::string frame_of(std::string_view payload) {
  std::string frame;
  for (int shift = 0; shift < 32; shift += 8)
    frame.push_back(static_cast<char>(payload.size() >> shift & 0xFF));
  frame.append(payload);
  return frame;
}

std::size_t frame_size(std::string_view header) {
  std::size_t size = 0;
  for (std::size_t i = 0; i < kFrameHeader; ++i)
    size |= static_cast<std::size_t>(static_cast<unsigned char>(header[i])) << (8 * i);
  return size;
}

void send_frame(const Fd& socket, std::string_view payload, Deadline deadline) {
  if (payload.size() > kLargestFrame) throw SocketError("a frame larger than a mebibyte");
  send_all(socket, frame_of(payload), deadline);
}

std::string receive_frame(const Fd& socket, Deadline deadline) {
  const std::size_t size = frame_size(receive(socket, kFrameHeader, deadline));
  if (size > kLargestFrame) throw SocketError("a frame larger than a mebibyte");
  return receive(socket, size, deadline);
}

}  // namespace podium
