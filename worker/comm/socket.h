// Blocking TCP with deadlines, for the rendezvous. Failures throw SocketError; the caller says what they
// mean.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "common/base/file.h"

namespace podium {

struct SocketError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// When to give up waiting: at a time, or with StopRequested as soon as `stop` is raised.
struct Deadline {
  Deadline(std::chrono::steady_clock::time_point at, const std::atomic<bool>* stop_flag = nullptr)
      : time(at), stop(stop_flag) {}
  std::chrono::steady_clock::time_point time;
  const std::atomic<bool>* stop;
};

// Listens on `host`:`port`. Throws AddressInUse if the port is taken, SocketError if the address is not this
// machine's.
Fd listen_on(const std::string& host, int port);
int port_of(const Fd& socket);

// Makes small messages leave at once.
void send_without_delay(const Fd& socket);

// Connects, trying again until the deadline while nobody listens there yet.
Fd connect_before(const std::string& host, int port, Deadline deadline);

// This end's IP address, as text: how the peer on the other end sees this machine.
std::string local_address(const Fd& socket);

void send_all(const Fd& socket, std::string_view bytes, Deadline deadline);
// Reads exactly `size` bytes. Throws SocketError if the peer closes before.
std::string receive(const Fd& socket, std::size_t size, Deadline deadline);

// Frames: a length in four bytes, little endian, then the bytes. At most kLargestFrame.
inline constexpr std::size_t kLargestFrame = 1 << 20;
inline constexpr std::size_t kFrameHeader = 4;
std::string frame_of(std::string_view payload);
std::size_t frame_size(std::string_view header);  // of the payload that follows, whatever is claimed
void send_frame(const Fd& socket, std::string_view payload, Deadline deadline);
std::string receive_frame(const Fd& socket, Deadline deadline);

}  // namespace podium
