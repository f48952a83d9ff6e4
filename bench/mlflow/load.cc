#include "bench/mlflow/load.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <system_error>

#include "common/base/file.h"

namespace podium {
namespace {

using Seconds = std::chrono::duration<double>;
using std::chrono::steady_clock;

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

class Connection {
 public:
  explicit Connection(const Url& server) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(server.port);
    ::inet_pton(AF_INET, server.host.c_str(), &address.sin_addr);
    if (::connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) fail("connect");
    const int on = 1;
    ::setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }

  int fd() const { return socket_.get(); }

  void send(const std::string& request) {
    received_.clear();
    size_ = 0;
    for (std::size_t sent = 0; sent < request.size();) {
      const ssize_t more = ::send(fd(), request.data() + sent, request.size() - sent, MSG_NOSIGNAL);
      if (more <= 0) fail("send");
      sent += static_cast<std::size_t>(more);
    }
  }

  // Reads what there is; whether the answer is whole.
  bool receive() {
    char piece[1 << 16];
    const ssize_t count = ::recv(fd(), piece, sizeof piece, 0);
    if (count <= 0) fail("receive");
    received_.append(piece, static_cast<std::size_t>(count));
    if (size_ == 0) read_header();
    return size_ > 0 && received_.size() >= size_;
  }

  Answer answer() const { return {std::stoi(received_.substr(9, 3)), received_.substr(header_)}; }

 private:
  void read_header() {
    const std::size_t end = received_.find("\r\n\r\n");
    if (end == std::string::npos) return;
    const std::size_t length = received_.find("Content-Length: ");
    if (length > end) throw std::runtime_error("an answer without a length");
    header_ = end + 4;
    size_ = header_ + std::stoul(received_.substr(length + 16, 20));
    received_.reserve(size_);
  }

  Fd socket_;
  std::string received_;
  std::size_t header_ = 0, size_ = 0;  // of the whole answer; 0: not known yet
};

void check(const Answer& answer) {
  if (answer.status != 200)
    throw std::runtime_error("answered " + std::to_string(answer.status) + ": " + answer.body);
}

}  // namespace

std::string http_request(const std::string& method, const std::string& path, const std::string& body,
                         const std::string& token) {
  return method + " " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer " + token +
         "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         body;
}

double ask_all(const Url& server, int clients, int requests_each,
               const std::function<const std::string&(int client, int n)>& request_of) {
  const Fd poll(::epoll_create1(0));
  std::vector<std::unique_ptr<Connection>> connections;
  std::vector<int> asked(static_cast<std::size_t>(clients), 0);
  for (int client = 0; client < clients; ++client) {
    connections.push_back(std::make_unique<Connection>(server));
    epoll_event event{.events = EPOLLIN, .data = {.u32 = static_cast<std::uint32_t>(client)}};
    ::epoll_ctl(poll.get(), EPOLL_CTL_ADD, connections.back()->fd(), &event);
  }
  const auto begin = steady_clock::now();
  for (int client = 0; client < clients; ++client)
    connections[static_cast<std::size_t>(client)]->send(request_of(client, 0));
  for (int left = clients; left > 0;) {
    epoll_event events[64];
    const int count = ::epoll_wait(poll.get(), events, 64, 60'000);
    if (count <= 0) throw std::runtime_error("no answer within a minute");
    for (int i = 0; i < count; ++i) {
      const std::size_t client = events[i].data.u32;
      if (!connections[client]->receive()) continue;
      check(connections[client]->answer());
      if (++asked[client] == requests_each)
        --left;
      else
        connections[client]->send(request_of(static_cast<int>(client), asked[client]));
    }
  }
  return Seconds(steady_clock::now() - begin).count();
}

Timed ask(const Url& server, const std::string& request) {
  Connection connection(server);
  const auto begin = steady_clock::now();
  connection.send(request);
  while (!connection.receive()) {
  }
  Timed timed{connection.answer(), Seconds(steady_clock::now() - begin).count()};
  check(timed.answer);
  return timed;
}

}  // namespace podium
