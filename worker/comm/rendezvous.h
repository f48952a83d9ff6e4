// Where the processes of an attempt find each other: rank 0 hosts a small key-value store at
// MASTER_ADDR:MASTER_PORT. A client proves with the attempt's secret that it belongs; whoever cannot is cut
// off without an answer.
//
// Frames (worker/comm/socket.h), the first byte saying what they are:
//   client: 'H' secret   once, first      server: 'K'
//           'S' key NUL value                     'K'
//           'G' key                               'V' value, as soon as somebody has set it
//           'A' name                              'K'; when this connection ends, the key kGoneKey gets the
//                                                 name, unless it has one already
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "worker/comm/socket.h"

namespace podium {

inline constexpr char kGoneKey[] = "gone";

class RendezvousServer {
 public:
  // Listens at once; `port` 0 takes a free one. Throws AddressInUse or SocketError. At most `most_clients` at
  // a time.
  RendezvousServer(const std::string& host, int port, std::string secret, int most_clients);
  ~RendezvousServer();
  RendezvousServer(const RendezvousServer&) = delete;
  RendezvousServer& operator=(const RendezvousServer&) = delete;

  int port() const { return port_; }

 private:
  struct Client {
    Fd socket;
    std::thread thread;
    std::atomic<bool> done{false};
    std::string announced;  // as what; of its thread
  };

  void accept_clients();
  void forget_finished();
  void serve(Client& client);
  void converse(Client& client);
  std::string answer(Client& client, std::string_view request);
  std::string wait_for_value(const std::string& key);

  std::string secret_;
  int most_clients_;
  Fd listener_;
  int port_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::string, std::less<>> values_;  // under mutex_
  std::atomic<bool> stopping_{false};
  std::list<Client> clients_;  // of the accepting thread
  std::thread accepting_;      // last: it uses all of the above
};

class RendezvousClient {
 public:
  // Connects, retrying until the deadline; throws SocketError where nobody answers or the secret is refused.
  // `stop`, once raised, ends this and every later wait with StopRequested.
  RendezvousClient(const std::string& host, int port, const std::string& secret,
                   std::chrono::milliseconds timeout, const std::atomic<bool>* stop = nullptr);

  void set(const std::string& key, std::string_view value);
  // While this connection lasts, the caller is there, as `name`.
  void announce(const std::string& name);
  // Waits until the key is set; throws SocketError after `timeout`.
  std::string get(const std::string& key, std::chrono::milliseconds timeout);
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
