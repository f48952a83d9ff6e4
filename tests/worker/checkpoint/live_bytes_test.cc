// What is read while it changes is what was there before, however reader and owners get in each other's way.
#include "worker/checkpoint/live_bytes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <stdexcept>
#include <thread>

#include "tests/worker/comm/thread_device.h"

namespace podium {
namespace {

using namespace std::chrono_literals;

using Bytes = std::vector<std::byte>;

constexpr std::size_t kMegabyte = 1 << 20;

Bytes random_bytes(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  Bytes bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

// Some memory and parts of it, out of order and with gaps, of all sizes.
struct Saved {
  explicit Saved(unsigned seed) : memory(random_bytes(24 * kMegabyte, seed)) {
    std::mt19937 random(seed);
    for (std::size_t begin = 0; begin < memory.size();) {
      const std::size_t size = std::min<std::size_t>(memory.size() - begin, std::size_t{1} << random() % 22);
      if (random() % 8 != 0) parts.push_back(std::span(memory).subspan(begin, size));
      begin += size;
    }
    std::ranges::shuffle(parts, random);
    for (const auto& part : parts) expected.insert(expected.end(), part.begin(), part.end());
  }

  Bytes memory;
  std::vector<std::span<const std::byte>> parts;
  Bytes expected;
};

Bytes read_all(LiveBytes& live, unsigned seed) {
  std::mt19937 random(seed);
  Bytes found, room(2 * kMegabyte);
  while (const std::size_t count = live.read(std::span(room).first(1 + random() % room.size()))) {
    found.insert(found.end(), room.begin(), room.begin() + static_cast<std::ptrdiff_t>(count));
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 2000));
  }
  return found;
}

// Changes all of the memory, in an order of its own, from three threads.
void change(Saved& saved, LiveBytes& live, unsigned seed) {
  constexpr std::size_t kChunk = 100'000;
  std::vector<std::size_t> begins;
  for (std::size_t begin = 0; begin < saved.memory.size(); begin += kChunk) begins.push_back(begin);
  if (seed % 2 != 0) std::ranges::shuffle(begins, std::mt19937(seed));
  std::vector<std::jthread> owners;
  for (std::size_t owner = 0; owner < 3; ++owner)
    owners.emplace_back([&, owner] {
      for (std::size_t i = owner; i < begins.size(); i += 3) {
        const auto chunk =
            std::span(saved.memory).subspan(begins[i], std::min(kChunk, saved.memory.size() - begins[i]));
        live.let_go(chunk);
        std::ranges::fill(chunk, std::byte{0xee});
      }
    });
}

TEST(LiveBytes, AreReadAsTheyWereWhileTheirOwnersChangeThem) {
  constexpr std::size_t kMostCopied = 3 * kMegabyte;
  for (unsigned seed = 0; seed < 6; ++seed) {
    Saved saved(seed);
    LiveBytes live(saved.parts, {}, kMostCopied);
    const auto last = saved.memory.begin() + (saved.parts.back().data() - saved.memory.data());
    live.let_go(saved.parts.back());  // one that its owner is surely first at
    std::fill_n(last, saved.parts.back().size(), std::byte{0xee});
    Bytes found;
    {
      const std::jthread reader([&] { found = read_all(live, seed); });
      change(saved, live, seed);
    }
    EXPECT_TRUE(found == saved.expected) << "seed " << seed;
    EXPECT_GT(live.most_held(), 0u);
    EXPECT_LE(live.most_held(), kMostCopied);
    EXPECT_TRUE(std::ranges::all_of(saved.memory, [](std::byte byte) { return byte == std::byte{0xee}; }));
  }
}

TEST(LiveBytes, TheirOwnerNeedNotWaitWhileThereIsRoom) {
  Saved saved(1);
  LiveBytes live(saved.parts, {}, saved.memory.size());
  change(saved, live, 1);
  EXPECT_TRUE(read_all(live, 1) == saved.expected);
}

TEST(LiveBytes, ThatWereReadAreNotCopied) {
  Saved saved(2);
  LiveBytes live(saved.parts, {}, saved.memory.size());
  EXPECT_TRUE(read_all(live, 2) == saved.expected);
  change(saved, live, 2);
  EXPECT_EQ(live.most_held(), 0u);
}

TEST(LiveBytes, AReaderThatGivesUpHoldsNobodyUp) {
  Saved saved(3);
  LiveBytes live(saved.parts, {}, kMegabyte);
  const std::jthread reader([&] {
    Bytes room(kMegabyte);
    live.read(room);
    live.abandon();
  });
  change(saved, live, 3);
}

// A device of which one copy fails.
class FailingOnce final : public DeviceStream {
 public:
  std::unique_ptr<DeviceEvent> record() override { return stream_.record(); }
  std::unique_ptr<DeviceTimestamp> stamp() override { return stream_.stamp(); }
  void wait_for(const DeviceEvent& event) override { stream_.wait_for(event); }
  void synchronise() override {
    stream_.synchronise();
    if (!std::exchange(failed_, true)) throw std::runtime_error("the device has failed");
  }
  void copy(void* to, const void* from, std::size_t bytes) override { stream_.copy(to, from, bytes); }
  void clear(void* memory, std::size_t bytes) override { stream_.clear(memory, bytes); }
  void begin_recording() override { stream_.begin_recording(); }
  std::unique_ptr<DeviceRecording> end_recording() override { return stream_.end_recording(); }
  void* native() override { return stream_.native(); }

 private:
  ThreadStream stream_;
  bool failed_ = false;
};

// The block stayed busy, and whoever came to it next waited for ever.
TEST(LiveBytes, ADeviceThatFailsToCopyHoldsNobodyUp) {
  ThreadDevice device("a device");
  FailingOnce stream;
  const Bytes memory = random_bytes(kMegabyte, 4);
  const std::vector<std::span<const std::byte>> parts{memory};
  LiveBytes live(parts, {&device, &stream}, memory.size());
  EXPECT_THROW(live.let_go(memory), std::runtime_error);
  live.let_go(memory);  // there is room for it
  EXPECT_TRUE(read_all(live, 4) == memory);
}

TEST(LiveBytes, TellWhetherAChangeWouldHaveToWaitForTheReader) {
  const Bytes memory = random_bytes(4 * kMegabyte, 5);
  const std::vector<std::span<const std::byte>> parts{memory};
  LiveBytes live(parts, {}, kMegabyte);
  Bytes room(kMegabyte);
  for (int read = 0; read < 3; ++read) {
    EXPECT_FALSE(live.wait_for_room(1ms)) << read;
    live.read(room);
  }
  EXPECT_TRUE(live.wait_for_room(1h));
  live.let_go(memory);
  EXPECT_TRUE(live.wait_for_room(1h)) << "nothing is left that could change";
  live.read(room);
  EXPECT_TRUE(live.wait_for_room(1h));
}

TEST(LiveBytes, NoneAtAllAreReadAsNothing) {
  Bytes other(10), room(10);
  LiveBytes live({}, {}, kMegabyte);
  live.let_go(other);
  EXPECT_EQ(live.read(room), 0u);
}

}  // namespace
}  // namespace podium
