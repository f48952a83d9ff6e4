// One direction between two ranks: a connection of its own, so that what goes one way never waits for what
// goes the other, or for a collective. It is made on a thread of its own at the first message, for the peer
// comes to it when it gets there; messages are put on its stream in order as soon as it stands.
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
  // `id_exchanged`: when `id` is the same on both ends.
  NcclLink(const NcclSetting& setting, bool sends, std::shared_ptr<nccl::UniqueId> id,
           std::future<void> id_exchanged, std::string name);
  NcclLink(const NcclLink&) = delete;
  NcclLink& operator=(const NcclLink&) = delete;
  ~NcclLink();

  // Sends or receives these bytes once `ready` is reached. The future, PeerLost or another failure of NCCL,
  // is of the event of the message's end.
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
