// What the clients of a rendezvous have set, and who waits for what. Pure: clients are numbers that are never
// used twice, time is an argument, and the caller sends the answers that it gets. A request costs no more
// than what it asks for, so that thousands of ranks can meet: one request waits for all ranks, and one reads
// a part of every rank's value.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace podium {

class RendezvousBoard {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Answers = std::vector<std::pair<std::uint64_t, std::string>>;  // of clients, in order

  // Takes one request (rendezvous.h) of a client that does not wait for an answer. Adds the answers that are
  // due now, to this client and to others that waited. Returns false if the request breaks the protocol.
  bool take(std::uint64_t client, std::string_view request, Time now, Answers& answers);
  bool waits(std::uint64_t client) const { return waiting_.contains(client); }
  // The client's connection has ended.
  void leave(std::uint64_t client, Answers& answers);
  // Answers the clients whose time to wait has ended.
  void expire(Time now, Answers& answers);

 private:
  // A client waits for `key`, or for key0 … key(count - 1), of which `next` is the first that is missing.
  struct Waiting {
    std::string key;
    int count = 0;  // 0: for the key itself
    int next = 0;
    Time until = Time::max();

    std::string missing() const { return count == 0 ? key : key + std::to_string(next); }
  };

  void set(const std::string& key, std::string_view value, Answers& answers);
  bool wait_for_all(std::uint64_t client, std::string_view arguments, Time now, Answers& answers);
  void go_on(std::uint64_t client, Waiting waiting, Answers& answers);
  std::optional<std::string> parts_of_all(std::string_view arguments) const;

  std::map<std::string, std::string, std::less<>> values_;
  std::map<std::uint64_t, Waiting> waiting_;
  std::map<std::string, std::vector<std::uint64_t>> waiting_for_;  // a key; some of them may have left
  std::map<std::uint64_t, std::string> announced_;
};

}  // namespace podium
