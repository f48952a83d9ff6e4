#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include "common/base/check.h"
#include "common/base/logging.h"
#include "worker/comm/rendezvous.h"
#include "worker/comm/rendezvous_board.h"

namespace podium {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kBetweenLooks{100};  // at what takes too long
constexpr std::chrono::seconds kHelloTimeout{5};
constexpr std::chrono::seconds kSendTimeout{10};
constexpr std::chrono::seconds kWithoutFiles{1};  // between attempts to accept while there are none

constexpr std::uint64_t kListener = 0;  // what an epoll event is about; clients count from kFirstClient
constexpr std::uint64_t kStop = 1;
constexpr std::uint64_t kFirstClient = 2;

// Takes as long for a wrong guess as for a right one of the same length.
bool equal_in_constant_time(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  return difference == 0;
}

}  // namespace

class RendezvousServer::Loop {
 public:
  Loop(Fd listener, const Fd& stop, std::string secret, int most_clients)
      : secret_(std::move(secret)),
        most_clients_(static_cast<std::size_t>(most_clients)),
        listener_(std::move(listener)),
        epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
    if (!epoll_) throw SocketError(std::string("cannot watch sockets: ") + std::strerror(errno));
    watch(EPOLL_CTL_ADD, listener_.get(), kListener, EPOLLIN);
    watch(EPOLL_CTL_ADD, stop.get(), kStop, EPOLLIN);
  }

  void run() {
    std::array<epoll_event, 64> events{};
    auto next_look = steady_clock::now();
    for (;;) {
      const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()),
                                     static_cast<int>(kBetweenLooks.count()));
      for (int i = 0; i < count; ++i) {
        const epoll_event& event = events[static_cast<std::size_t>(i)];
        if (event.data.u64 == kStop) return;
        if (event.data.u64 == kListener)
          accept_client();
        else
          serve(event.data.u64, event.events);
      }
      if (steady_clock::now() < next_look) continue;
      look_for_late_ones();
      next_look = steady_clock::now() + kBetweenLooks;
    }
  }

 private:
  struct Client {
    Fd socket;
    bool admitted = false;
    steady_clock::time_point late{};  // when it should have said hello, or taken what it was sent
    std::string received;
    std::string unsent;
    bool blocked = false;  // until epoll says that more can be sent
  };

  void watch(int operation, int fd, std::uint64_t what, std::uint32_t events) const {
    epoll_event event{};
    event.events = events;
    event.data.u64 = what;
    PODIUM_CHECK(::epoll_ctl(epoll_.get(), operation, fd, &event) == 0, "epoll takes an open socket");
  }

  void accept_client() {
    Fd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) {
      if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) pause_accepting();
      return;
    }
    if (clients_.size() >= most_clients_) return;
    send_without_delay(socket);
    const std::uint64_t id = next_client_++;
    watch(EPOLL_CTL_ADD, socket.get(), id, EPOLLIN);
    clients_[id] = {.socket = std::move(socket), .late = steady_clock::now() + kHelloTimeout};
  }

  // The connection stays in the queue, and epoll would tell of it without an end.
  void pause_accepting() {
    if (!std::exchange(told_, true))
      spdlog::warn("the rendezvous cannot accept a rank: {}; raise the limit of open files (ulimit -Hn)",
                   std::strerror(errno));
    watch(EPOLL_CTL_MOD, listener_.get(), kListener, 0);
    accept_again_ = steady_clock::now() + kWithoutFiles;
  }

  void serve(std::uint64_t id, std::uint32_t events) {
    const auto found = clients_.find(id);
    if (found == clients_.end()) return;  // it was dropped in this round
    Client& client = found->second;
    if ((events & EPOLLOUT) != 0 && !send_rest(id, client)) return drop(id);
    if ((events & ~std::uint32_t{EPOLLOUT}) != 0 && !receive(id, client)) return drop(id);
    send_answers();
  }

  // False where the client has left or breaks the protocol, as in the following.
  bool receive(std::uint64_t id, Client& client) {
    std::array<char, 1 << 16> bytes;
    const ssize_t got = ::recv(client.socket.get(), bytes.data(), bytes.size(), 0);
    if (got == 0) return false;
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    client.received.append(bytes.data(), static_cast<std::size_t>(got));
    while (client.received.size() >= kFrameHeader) {
      const std::size_t size = frame_size(client.received);
      if (size > (client.admitted ? kLargestFrame : secret_.size() + 1)) return false;
      if (client.received.size() < kFrameHeader + size) break;
      if (!take(id, client, std::string_view(client.received).substr(kFrameHeader, size))) return false;
      client.received.erase(0, kFrameHeader + size);
    }
    return true;
  }

  bool take(std::uint64_t id, Client& client, std::string_view request) {
    if (client.admitted) return !board_.waits(id) && board_.take(id, request, steady_clock::now(), answers_);
    if (!request.starts_with('H') || !equal_in_constant_time(request.substr(1), secret_)) return false;
    client.admitted = true;
    answers_.emplace_back(id, "K");
    return true;
  }

  void send_answers() {
    while (!answers_.empty()) {
      const RendezvousBoard::Answers answers = std::exchange(answers_, {});
      for (const auto& [id, payload] : answers) {
        const auto found = clients_.find(id);
        if (found == clients_.end()) continue;
        Client& client = found->second;
        if (client.unsent.empty()) client.late = steady_clock::now() + kSendTimeout;
        client.unsent += frame_of(payload);
        if (!send_rest(id, client)) drop(id);
      }
    }
  }

  bool send_rest(std::uint64_t id, Client& client) const {
    while (!client.unsent.empty()) {
      const ssize_t sent =
          ::send(client.socket.get(), client.unsent.data(), client.unsent.size(), MSG_NOSIGNAL);
      if (sent >= 0) {
        client.unsent.erase(0, static_cast<std::size_t>(sent));
      } else if (errno == EAGAIN) {
        return set_blocked(id, client, true);
      } else if (errno != EINTR) {
        return false;
      }
    }
    return set_blocked(id, client, false);
  }

  bool set_blocked(std::uint64_t id, Client& client, bool blocked) const {
    if (client.blocked != blocked)
      watch(EPOLL_CTL_MOD, client.socket.get(), id, blocked ? EPOLLIN | EPOLLOUT : EPOLLIN);
    client.blocked = blocked;
    return true;
  }

  void drop(std::uint64_t id) {
    clients_.erase(id);  // closes the socket, which epoll then forgets
    board_.leave(id, answers_);
    send_answers();
  }

  void look_for_late_ones() {
    const auto now = steady_clock::now();
    std::vector<std::uint64_t> late;
    for (const auto& [id, client] : clients_)
      if ((!client.admitted || !client.unsent.empty()) && client.late < now) late.push_back(id);
    for (const std::uint64_t id : late) drop(id);
    board_.expire(now, answers_);
    send_answers();
    if (!accept_again_ || *accept_again_ > now) return;
    accept_again_.reset();
    watch(EPOLL_CTL_MOD, listener_.get(), kListener, EPOLLIN);
  }

  const std::string secret_;
  const std::size_t most_clients_;
  const Fd listener_;
  const Fd epoll_;
  std::uint64_t next_client_ = kFirstClient;
  std::map<std::uint64_t, Client> clients_;
  RendezvousBoard board_;
  RendezvousBoard::Answers answers_;                      // not yet handed to their clients
  std::optional<steady_clock::time_point> accept_again_;  // where there was no file left to accept with
  bool told_ = false;                                     // of that
};

RendezvousServer::RendezvousServer(const std::string& host, int port, std::string secret, int most_clients)
    : stop_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!stop_) throw SocketError(std::string("cannot make an eventfd: ") + std::strerror(errno));
  Fd listener = listen_on(host, port);
  port_ = port_of(listener);
  loop_ = std::make_unique<Loop>(std::move(listener), stop_, std::move(secret), most_clients);
  thread_ = std::thread([this] { loop_->run(); });
}

RendezvousServer::~RendezvousServer() {
  const std::uint64_t one = 1;
  PODIUM_CHECK(::write(stop_.get(), &one, sizeof one) == sizeof one, "an eventfd takes any small number");
  thread_.join();
}

}  // namespace podium
