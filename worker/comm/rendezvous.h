// The processes of an attempt find one another here: rank 0 hosts a small key-value store at
// MASTER_ADDR:MASTER_PORT. A client proves with the attempt's secret that it belongs; a client that cannot is
// cut off without an answer. A client sends its next request after the answer to its last one.
//
// Frames (worker/comm/socket.h), the first byte saying what they are; numbers are written out in decimal:
//   client: 'H' secret   once, first      server: 'K'
//           'S' key NUL value                     'K'
//           'G' key                               'V' value, as soon as somebody has set it
//           'W' key NUL count NUL milliseconds    'K' as soon as key0, key1 … key(count - 1) are set, or
//                                                 after so long 'M' and the first number that is missing
//           'P' key NUL count NUL begin NUL size  'V' and of the values of key0 … the bytes [begin, begin +
//                                                 size), one after another; all must be set
//           'A' name                              'K'; when this connection ends, the key kGoneKey gets the
//                                                 name, unless it has one already
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "worker/comm/socket.h"

namespace podium {

inline constexpr char kGoneKey[] = "gone";

// Serves all clients on one thread.
class RendezvousServer {
 public:
  // Listens at once; `port` 0 takes a free port. Serves at most `most_clients` at a time. Throws AddressInUse
  // or SocketError.
  RendezvousServer(const std::string& host, int port, std::string secret, int most_clients);
  ~RendezvousServer();
  RendezvousServer(const RendezvousServer&) = delete;
  RendezvousServer& operator=(const RendezvousServer&) = delete;

  int port() const { return port_; }

 private:
  class Loop;

  Fd stop_;  // an eventfd, written to once
  int port_ = 0;
  std::unique_ptr<Loop> loop_;  // of the thread
  std::thread thread_;          // last: it uses all of the above
};

class RendezvousClient {
 public:
  // Connects, and retries until the deadline. Throws SocketError if nobody answers or the secret is refused.
  // Once `stop` is raised, this and every later wait end with StopRequested.
  RendezvousClient(const std::string& host, int port, const std::string& secret,
                   std::chrono::milliseconds timeout, const std::atomic<bool>* stop = nullptr);

  void set(const std::string& key, std::string_view value);
  // Announces the caller as `name` for as long as this connection lasts.
  void announce(const std::string& name);
  // Waits until the key is set. Throws SocketError after `timeout`.
  std::string get(const std::string& key, std::chrono::milliseconds timeout);
  // Waits until key0 … key(count - 1) are set. After `timeout` returns the first number that is missing.
  std::optional<int> wait_for_all(const std::string& key, int count, std::chrono::milliseconds timeout);
  // Returns the bytes [begin, begin + size) of each of these values, one after another. All must be set.
  std::string parts_of_all(const std::string& key, int count, std::size_t begin, std::size_t size);
  // The address by which this machine reached the server.
  std::string own_address() const { return local_address(socket_); }

 private:
  Deadline after(std::chrono::milliseconds timeout) const;
  std::string call(std::string_view request, std::chrono::milliseconds timeout);

  const std::atomic<bool>* stop_;
  std::chrono::milliseconds timeout_;
  Fd socket_;
};

}  // namespace podium
