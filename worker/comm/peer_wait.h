// Tells whom the threads of a process wait for. A time-out or a lost connection names the rank that was
// waited for, and a long wait is reported while it lasts. It costs the waiting thread two stores.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace gloo::transport {
class UnboundBuffer;
}

namespace podium {

class PeerWait;

// The waits of a process.
class PeerWaits {
 public:
  using Tell = std::function<void(const std::string& message)>;

  // `tell` may be empty; else a thread of this object calls it once for every wait that takes `long_wait`.
  PeerWaits(std::chrono::milliseconds long_wait, Tell tell);
  PeerWaits(const PeerWaits&) = delete;
  PeerWaits& operator=(const PeerWaits&) = delete;
  ~PeerWaits();

  void add(const PeerWait& wait);
  void remove(const PeerWait& wait);
  // Throws PeerLost with the reason of the first call, because later failures may follow from the first.
  [[noreturn]] void lose(const std::string& reason);

 private:
  using Time = std::chrono::steady_clock::time_point;

  void run();
  std::vector<std::string> find_long_waits();

  const std::chrono::milliseconds long_wait_;
  const Tell tell_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<const PeerWait*, Time> waits_;  // under mutex_; when the wait began that was told last
  std::string first_reason_;               // likewise
  bool stopping_ = false;                  // likewise
  std::thread thread_;                     // last: it uses all of the above
};

// The waits of one thread in one group of ranks.
class PeerWait {
 public:
  // `members` are the group's ranks as the job numbers them. `what` tells in messages what the group does.
  PeerWait(PeerWaits& waits, std::vector<int> members, std::string what);
  PeerWait(const PeerWait&) = delete;
  PeerWait& operator=(const PeerWait&) = delete;
  ~PeerWait();

  // Wait for one message of this buffer, from or to this member of the group. They throw PeerLost, which
  // names the member.
  void received(gloo::transport::UnboundBuffer& buffer, int peer, std::chrono::milliseconds timeout);
  void sent(gloo::transport::UnboundBuffer& buffer, int peer, std::chrono::milliseconds timeout);

  struct Current {
    int rank = 0;
    std::chrono::steady_clock::time_point since;
  };
  std::optional<Current> current() const;  // from any thread
  const std::string& what() const { return what_; }

 private:
  template <class Wait>
  void wait(int peer, std::chrono::milliseconds timeout, const Wait& wait);

  PeerWaits& waits_;
  const std::vector<int> members_;
  const std::string what_;
  std::atomic<int> peer_{-1};
  std::atomic<std::chrono::steady_clock::rep> since_{0};  // written before peer_
};

}  // namespace podium
