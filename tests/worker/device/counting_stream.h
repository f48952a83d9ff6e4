// A device's stream that counts what is recorded and replayed on it, and how often the host waits for it.
#pragma once

#include <memory>
#include <utility>

#include "worker/tensor/device.h"

namespace podium::test {

class CountingStream final : public DeviceStream {
 public:
  struct Counts {
    int recordings = 0;
    int replays = 0;
    int waits = 0;  // but for what an earlier wait has seen done
  };

  explicit CountingStream(DeviceStream& stream) : stream_(stream) {}
  const Counts& counts() const { return counts_; }

  std::unique_ptr<DeviceEvent> record() override {
    return std::make_unique<Event>(stream_.record(), *this, ++points_);
  }
  std::unique_ptr<DeviceTimestamp> stamp() override { return stream_.stamp(); }
  void wait_for(const DeviceEvent& event) override {
    stream_.wait_for(static_cast<const Event&>(event).inner());
  }
  void synchronise() override {
    count_wait(++points_);
    stream_.synchronise();
  }
  void copy(void* to, const void* from, std::size_t bytes) override { stream_.copy(to, from, bytes); }
  void clear(void* memory, std::size_t bytes) override { stream_.clear(memory, bytes); }
  void begin_recording() override { stream_.begin_recording(); }
  std::unique_ptr<DeviceRecording> end_recording() override {
    auto recording = stream_.end_recording();
    ++counts_.recordings;
    return std::make_unique<Counted>(std::move(recording), counts_);
  }
  void* native() override { return stream_.native(); }

 private:
  class Event final : public DeviceEvent {
   public:
    Event(std::unique_ptr<DeviceEvent> event, CountingStream& stream, int point)
        : event_(std::move(event)), stream_(stream), point_(point) {}
    const DeviceEvent& inner() const { return *event_; }
    void synchronise() override {
      stream_.count_wait(point_);
      event_->synchronise();
    }
    bool reached() override { return event_->reached(); }

   private:
    std::unique_ptr<DeviceEvent> event_;
    CountingStream& stream_;
    int point_;  // in the order of the stream
  };

  void count_wait(int point) {
    if (point <= waited_) return;
    ++counts_.waits;
    waited_ = point;
  }

  class Counted final : public DeviceRecording {
   public:
    Counted(std::unique_ptr<DeviceRecording> recording, Counts& counts)
        : recording_(std::move(recording)), counts_(counts) {}
    void replay() override {
      ++counts_.replays;
      recording_->replay();
    }

   private:
    std::unique_ptr<DeviceRecording> recording_;
    Counts& counts_;
  };

  DeviceStream& stream_;
  Counts counts_;
  int points_ = 0;
  int waited_ = 0;
};

}  // namespace podium::test
