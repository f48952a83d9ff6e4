// Whether the client of a request is still there while it is being answered. On the server's thread.
#pragma once

#include <functional>
#include <utility>

namespace podium {

class ClientWatch {
 public:
  bool has_left() const { return has_left_; }
  // `call` is called once when the client leaves, at once where it has; in place of the function before. That
  // may be after the handler has returned, until the last byte of its answer is sent.
  void on_leave(std::function<void()> call) {
    call_ = std::move(call);
    if (has_left_ && call_) leave();
  }

  // Of the server, when the client has left, and when the request is answered.
  void leave() {
    has_left_ = true;
    if (const auto call = std::exchange(call_, nullptr)) call();
  }
  void end() {
    ended_ = true;
    call_ = nullptr;
  }
  bool has_ended() const { return ended_; }

 private:
  bool has_left_ = false;
  bool ended_ = false;
  std::function<void()> call_;
};

}  // namespace podium
