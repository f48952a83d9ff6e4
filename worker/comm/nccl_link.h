// One direction between two ranks. It has a connection of its own, so its messages never wait for those of
// the other direction or for a collective. A thread of its own makes the connection at the first message,
// because the peer may come to it later. As soon as the connection stands, messages are put on its stream in
// order.
#pragma once

#include <condition_variable>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>

#include "worker/comm/nccl_connection.h"

namespace podium {

class NcclLink {
 public:
  // `id_exchanged` tells when `id` is the same on both ends.
  NcclLink(const NcclSetting& setting, bool sends, std::shared_ptr<nccl::UniqueId> id,
           std::future<void> id_exchanged, std::string name);
  NcclLink(const NcclLink&) = delete;
  NcclLink& operator=(const NcclLink&) = delete;
  ~NcclLink();

  // Sends or receives these bytes after `ready` is reached. The future gives the event of the message's end,
  // or throws PeerLost or another failure of NCCL.
  std::future<std::shared_ptr<DeviceEvent>> put(std::span<std::byte> bytes,
                                                std::unique_ptr<DeviceEvent> ready);

 private:
  struct Message {
    std::span<std::byte> bytes;
    std::unique_ptr<DeviceEvent> ready;
    std::promise<std::shared_ptr<DeviceEvent>> done;
  };

  void run(std::future<void> id_exchanged);
  std::shared_ptr<DeviceEvent> put(NcclConnection& connection, const Message& message) const;

  const NcclSetting setting_;
  const bool sends_;
  const std::shared_ptr<nccl::UniqueId> id_;  // shared with the exchange
  const std::string name_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Message> messages_;  // under mutex_
  bool stopping_ = false;         // under mutex_
  std::thread thread_;            // last: it uses all of the above
};

}  // namespace podium
