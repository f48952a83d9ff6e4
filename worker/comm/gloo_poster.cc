#include "worker/comm/gloo_poster.h"

#include <gloo/common/error.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/transport/unbound_buffer.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <system_error>

#include "common/base/check.h"

namespace podium {
namespace {

void post_one(const GlooMessage& message) {
  const bool receives = message.direction == GlooMessage::Direction::receive;
  try {
    if (receives)
      message.buffer->recv(message.peer, message.slot, message.begin, message.size);
    else
      message.buffer->send(message.peer, message.slot, message.begin, message.size);
  } catch (const gloo::Exception&) {
    // Nothing may leave Gloo's loop; whoever waits for this message learns of the lost connection.
    receives ? message.buffer->abortWaitRecv() : message.buffer->abortWaitSend();
  }
}

}  // namespace

class GlooPoster::OnLoop final : public gloo::transport::tcp::Handler {
 public:
  explicit OnLoop(std::shared_ptr<gloo::transport::Device> device)
      : device_(std::static_pointer_cast<gloo::transport::tcp::Device>(std::move(device))),
        event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (event_.get() < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
    device_->registerDescriptor(event_.get(), EPOLLIN, this);
  }
  ~OnLoop() override { device_->unregisterDescriptor(event_.get(), this); }

  void add(std::vector<GlooMessage> messages) {
    {
      const std::lock_guard lock(mutex_);
      for (GlooMessage& message : messages) messages_.push_back(std::move(message));
    }
    const std::uint64_t one = 1;
    PODIUM_CHECK(::write(event_.get(), &one, sizeof one) == sizeof one, "an eventfd takes any small number");
  }

  void handleEvents(int) override {
    std::uint64_t unused = 0;
    PODIUM_CHECK(::read(event_.get(), &unused, sizeof unused) == sizeof unused, "the eventfd was ready");
    std::vector<GlooMessage> messages;
    {
      const std::lock_guard lock(mutex_);
      messages.swap(messages_);
    }
    for (const GlooMessage& message : messages) post_one(message);
  }

 private:
  std::shared_ptr<gloo::transport::tcp::Device> device_;  // Gloo's type
  Fd event_;
  std::mutex mutex_;
  std::vector<GlooMessage> messages_;  // under mutex_
};

GlooPoster::GlooPoster(std::shared_ptr<gloo::transport::Device> device)
    : on_loop_(std::make_unique<OnLoop>(std::move(device))) {}

GlooPoster::~GlooPoster() = default;

void GlooPoster::post(std::vector<GlooMessage> messages) { on_loop_->add(std::move(messages)); }

}  // namespace podium
