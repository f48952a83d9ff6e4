#include "worker/comm/nccl_link.h"

#include <exception>
#include <optional>
#include <utility>

namespace podium {

NcclLink::NcclLink(const NcclSetting& setting, bool sends, std::shared_ptr<nccl::UniqueId> id,
                   std::future<void> id_exchanged, std::string name)
    : setting_(setting),
      sends_(sends),
      id_(std::move(id)),
      name_(std::move(name)),
      thread_([this, exchanged = std::move(id_exchanged)]() mutable { run(std::move(exchanged)); }) {}

NcclLink::~NcclLink() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

std::future<std::shared_ptr<DeviceEvent>> NcclLink::put(std::span<std::byte> bytes,
                                                        std::unique_ptr<DeviceEvent> ready) {
  Message message{bytes, std::move(ready), {}};
  auto done = message.done.get_future();
  {
    const std::lock_guard lock(mutex_);
    messages_.push_back(std::move(message));
  }
  changed_.notify_all();
  return done;
}

void NcclLink::run(std::future<void> id_exchanged) {
  std::optional<NcclConnection> connection;
  std::exception_ptr failure;
  try {
    id_exchanged.get();
    setting_.device.use();
    connection.emplace(setting_, *id_, sends_ ? 0 : 1, 2, name_);
  } catch (...) {
    failure = std::current_exception();
  }
  for (;;) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return stopping_ || !messages_.empty(); });
    if (messages_.empty()) return;
    Message message = std::move(messages_.front());
    messages_.pop_front();
    lock.unlock();
    try {
      if (failure) std::rethrow_exception(failure);
      message.done.set_value(put(*connection, message));
    } catch (...) {
      message.done.set_exception(std::current_exception());
    }
  }
}

std::shared_ptr<DeviceEvent> NcclLink::put(NcclConnection& connection, const Message& message) const {
  const std::span<std::byte> bytes = message.bytes;
  constexpr int kReceiver = 1, kSender = 0;
  return connection.put(*message.ready, [&](nccl::Comm comm, nccl::Stream stream) {
    return sends_ ? setting_.library.send(bytes.data(), bytes.size(), nccl::kInt8, kReceiver, comm, stream)
                  : setting_.library.receive(bytes.data(), bytes.size(), nccl::kInt8, kSender, comm, stream);
  });
}

}  // namespace podium
