// Posts sends and receives on the thread of Gloo's event loop. Any other thread would hold a connection's
// lock while it writes. The loop polls for that lock instead of waiting, and on a busy machine its polling
// uses up the time slice that the lock's holder needs: a message of a few bytes would take milliseconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "common/base/file.h"

namespace gloo::transport {
class Device;
class UnboundBuffer;
}  // namespace gloo::transport

namespace podium {

struct GlooMessage {
  enum class Direction { send, receive };
  Direction direction = Direction::send;
  std::shared_ptr<gloo::transport::UnboundBuffer> buffer;  // lives until the loop has seen the message
  int peer = 0;
  std::uint64_t slot = 0;
  std::size_t begin = 0;  // in the buffer, in bytes
  std::size_t size = 0;
};

class GlooPoster {
 public:
  // `device` is Gloo's TCP device.
  explicit GlooPoster(std::shared_ptr<gloo::transport::Device> device);
  ~GlooPoster();

  // Returns at once. Messages are posted in this order, also across calls. If a connection is already lost,
  // aborts the wait for the message.
  void post(std::vector<GlooMessage> messages);

 private:
  class OnLoop;
  std::unique_ptr<OnLoop> on_loop_;
};

}  // namespace podium
