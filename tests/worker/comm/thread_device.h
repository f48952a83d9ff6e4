// A device for tests of what is put on streams: its memory is the host's, and each of its streams is a thread
// that takes its time, so that what does not wait for another stream's work comes too early.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "worker/tensor/device.h"

namespace podium {

class ThreadEvent final : public DeviceEvent {
 public:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    bool reached = false;
  };

  void synchronise() override { wait(*state_); }
  bool reached() override {
    const std::lock_guard lock(state_->mutex);
    return state_->reached;
  }

  std::shared_ptr<State> state() const { return state_; }
  static void wait(State& state) {
    std::unique_lock lock(state.mutex);
    state.changed.wait(lock, [&] { return state.reached; });
  }

 private:
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

class ThreadTimestamp final : public DeviceTimestamp {
 public:
  using Clock = std::chrono::steady_clock;

  explicit ThreadTimestamp(std::future<Clock::time_point> time) : time_(time.share()) {}
  double seconds_since(const DeviceTimestamp& earlier) override {
    const auto& from = static_cast<const ThreadTimestamp&>(earlier);
    return std::chrono::duration<double>(time_.get() - from.time_.get()).count();
  }

 private:
  std::shared_future<Clock::time_point> time_;
};

using ThreadWork = std::vector<std::function<void()>>;

class ThreadRecording final : public DeviceRecording {
 public:
  ThreadRecording(std::function<void(std::function<void()>)> put, ThreadWork work)
      : put_(std::move(put)), work_(std::move(work)) {}
  void replay() override {
    for (const std::function<void()>& work : work_) put_(work);
  }

 private:
  std::function<void(std::function<void()>)> put_;
  ThreadWork work_;
};

class ThreadStream final : public DeviceStream {
 public:
  ThreadStream() : thread_([this] { run(); }) {}
  ~ThreadStream() override {
    put(nullptr);
    thread_.join();
  }

  // After everything put before it; null ends the thread.
  void put(std::function<void()> work) {
    if (recorded_) return recorded_->push_back(std::move(work));
    {
      const std::lock_guard lock(mutex_);
      work_.push_back(std::move(work));
    }
    changed_.notify_all();
  }

  std::unique_ptr<DeviceEvent> record() override {
    auto event = std::make_unique<ThreadEvent>();
    put([state = event->state()] {
      {
        const std::lock_guard lock(state->mutex);
        state->reached = true;
      }
      state->changed.notify_all();
    });
    return event;
  }
  std::unique_ptr<DeviceTimestamp> stamp() override {
    const auto time = std::make_shared<std::promise<ThreadTimestamp::Clock::time_point>>();
    put([time] { time->set_value(ThreadTimestamp::Clock::now()); });
    return std::make_unique<ThreadTimestamp>(time->get_future());
  }
  void wait_for(const DeviceEvent& event) override {
    put([state = static_cast<const ThreadEvent&>(event).state()] { ThreadEvent::wait(*state); });
  }
  void synchronise() override { record()->synchronise(); }
  void copy(void* to, const void* from, std::size_t bytes) override {
    put([=] { std::memmove(to, from, bytes); });
  }
  void clear(void* memory, std::size_t bytes) override {
    put([=] { std::memset(memory, 0, bytes); });
  }
  void begin_recording() override { recorded_.emplace(); }
  std::unique_ptr<DeviceRecording> end_recording() override {
    ThreadWork work = *std::exchange(recorded_, std::nullopt);
    return std::make_unique<ThreadRecording>([this](auto one) { put(std::move(one)); }, std::move(work));
  }
  void* native() override { return this; }

 private:
  void run() {
    for (;;) {
      std::function<void()> work;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return !work_.empty(); });
        work = std::move(work_.front());
        work_.pop_front();
      }
      if (!work) return;
      std::this_thread::sleep_for(std::chrono::microseconds(300));
      work();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> work_;
  std::optional<ThreadWork> recorded_;  // while work is recorded
  std::thread thread_;
};

class ThreadDevice final : public Device {
 public:
  explicit ThreadDevice(const std::string& uuid, const std::string& architecture = "") {
    description_.uuid = uuid;
    description_.architecture = architecture;
  }

  const DeviceDescription& description() const override { return description_; }
  void use() override {}
  std::unique_ptr<DeviceStream> make_stream(StreamPriority) override {
    return std::make_unique<ThreadStream>();
  }
  void* allocate(std::size_t bytes) override {
    const std::lock_guard lock(mutex_);
    auto* const memory = static_cast<std::byte*>(::operator new (bytes, std::align_val_t{256}));
    blocks_[memory] = bytes;
    return memory;
  }
  void free(void* memory) noexcept override {
    const std::lock_guard lock(mutex_);
    blocks_.erase(static_cast<std::byte*>(memory));
    ::operator delete (memory, std::align_val_t{256});
  }
  void* allocate_host(std::size_t bytes) override { return ::operator new(bytes); }
  void free_host(void* memory) noexcept override { ::operator delete(memory); }
  bool owns(const void* address) const override {
    const std::lock_guard lock(mutex_);
    auto block = blocks_.upper_bound(static_cast<const std::byte*>(address));
    return block != blocks_.begin() && address < (--block)->first + block->second;
  }

 private:
  DeviceDescription description_;
  mutable std::mutex mutex_;
  std::map<const std::byte*, std::size_t> blocks_;
};

}  // namespace podium
