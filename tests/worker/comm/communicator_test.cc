#include "worker/comm/communicator.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstdint>
#include <mutex>
#include <numeric>
#include <thread>

#include "tests/worker/comm/world.h"
#include "worker/comm/single_communicator.h"

namespace podium {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;

// A value of rank `rank` whose sums round, so that another order of addition would show in the bits.
float value_of(int rank, std::size_t i) {
  return std::sin(static_cast<float>(i) * 0.37F + static_cast<float>(rank)) *
         std::pow(10.0F, static_cast<float>(rank));
}

std::uint64_t hash_of(std::span<const float> values) {
  std::uint64_t hash = 1469598103934665603U;
  for (const std::byte b : std::as_bytes(values))
    hash = (hash ^ static_cast<std::uint64_t>(b)) * 1099511628211U;
  return hash;
}

std::vector<float> values_of(int rank, std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = value_of(rank, i);
  return values;
}

bool same_on_all(Communicator& world, std::uint64_t own) {
  std::vector<std::uint64_t> all(static_cast<std::size_t>(world.size()));
  world.all_gather(std::as_bytes(std::span(&own, 1)), std::as_writable_bytes(std::span(all))).get();
  return std::ranges::all_of(all, [&](std::uint64_t other) { return other == own; });
}

bool near_sum(std::span<const float> values, int size) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    double expected = 0;
    double magnitude = 0;
    for (int rank = 0; rank < size; ++rank) {
      expected += value_of(rank, i);
      magnitude += std::abs(value_of(rank, i));
    }
    if (std::abs(values[i] - expected) > 1e-6 * magnitude) return false;
  }
  return true;
}

class OfSize : public testing::TestWithParam<int> {};

TEST_P(OfSize, SumsAreRightAndTheSameBitsOnEveryRankAndEveryTime) {
  const int size = GetParam();
  const auto run = [&](Communicator& world) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{7}, std::size_t{1000}, std::size_t{700001}}) {
      std::uint64_t first = 0;
      for (int repeat = 0; repeat < 3; ++repeat) {
        std::vector<float> values = values_of(world.rank(), count);
        world.all_reduce(values).get();
        if (!near_sum(values, size)) return 1;
        const std::uint64_t hash = hash_of(values);
        if (repeat > 0 && hash != first) return 2;
        first = hash;
        if (!same_on_all(world, hash)) return 3;
      }
    }
    return 0;
  };
  EXPECT_THAT(run_processes(size, run), Each(0));
}

// One element more than whole segments of 64 Ki floats for every rank: only the largest part has the last
// one.
TEST_P(OfSize, NoElementIsLeftOutWhereOnePartIsLargerByOneSegment) {
  const int size = GetParam();
  const auto run = [&](Communicator& world) {
    constexpr std::size_t kSegment = 65536;
    for (const std::size_t segments : {std::size_t{1}, std::size_t{2}, std::size_t{3}})
      for (const std::size_t more : {std::size_t{0}, std::size_t{1}}) {
        std::vector<float> values(segments * kSegment * static_cast<std::size_t>(size) + more,
                                  static_cast<float>(world.rank() + 1));
        world.all_reduce(values).get();
        const auto sum = static_cast<float>(size * (size + 1) / 2);
        if (!std::ranges::all_of(values, [&](float value) { return value == sum; })) return 1;
      }
    return 0;
  };
  EXPECT_THAT(run_processes(size, run), Each(0));
}

TEST_P(OfSize, ASumHasTheSameBitsHoweverItsBufferIsCut) {
  const auto run = [&](Communicator& world) {
    constexpr std::size_t kCount = 8 * 9 * 5 * 7 * 61;
    std::vector<float> whole = values_of(world.rank(), kCount);
    std::vector<float> cut = whole;
    std::vector<float> scattered = whole;
    world.all_reduce(whole).get();
    for (std::size_t begin = 0; begin < kCount; begin += kCount / 9)
      world.all_reduce(std::span(cut).subspan(begin, kCount / 9)).get();
    if (cut != whole) return 1;
    world.reduce_scatter(view_of(std::span(scattered), {kCount})).get();
    const std::size_t part = kCount / static_cast<std::size_t>(world.size());
    const std::size_t begin = part * static_cast<std::size_t>(world.rank());
    if (kCount % static_cast<std::size_t>(world.size()) != 0) return 2;
    for (std::size_t i = begin; i < begin + part; ++i)
      if (scattered[i] != whole[i]) return 3;
    return 0;
  };
  EXPECT_THAT(run_processes(GetParam(), run), Each(0));
}

// Sums of many 16-bit values in f32, rounded once: what a sum rounded at every step would not give.
template <class T>
int check_narrow_sum(Communicator& world) {
  for (const std::int64_t count : {std::int64_t{5}, std::int64_t{50'000}}) {
    std::vector<T> values(static_cast<std::size_t>(count));
    const auto value = [](int rank, std::size_t i) { return from_float<T>(value_of(rank % 2, i) + 3); };
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = value(world.rank(), i);
    world.all_reduce({values.data(), dtype_of<T>, {count}}).get();
    for (std::size_t i = 0; i < values.size(); ++i) {
      float expected = 0;
      for (int rank = 0; rank < world.size(); ++rank) expected += to_float(value(rank, i));
      if (values[i].bits != from_float<T>(expected).bits) return 1;
    }
  }
  return 0;
}

TEST_P(OfSize, Bf16IsAddedInF32AndRoundedOnce) {
  EXPECT_THAT(run_processes(GetParam(), check_narrow_sum<BFloat16>), Each(0));
}

TEST_P(OfSize, F16IsAddedInF32AndRoundedOnce) {
  EXPECT_THAT(run_processes(GetParam(), check_narrow_sum<Float16>), Each(0));
}

TEST_P(OfSize, TheMaximumIsTakenElementByElement) {
  const auto run = [](Communicator& world) {
    for (const std::size_t count : {std::size_t{3}, std::size_t{90'000}}) {
      std::vector<float> values(count);
      for (std::size_t i = 0; i < count; ++i)
        values[i] = (i + static_cast<std::size_t>(world.rank())) % static_cast<std::size_t>(world.size()) == 0
                        ? -static_cast<float>(i)
                        : -1e30F;
      world.all_reduce(view_of(std::span(values), {static_cast<std::int64_t>(count)}), Reduction::max).get();
      for (std::size_t i = 0; i < count; ++i)
        if (values[i] != -static_cast<float>(i)) return 1;
    }
    return 0;
  };
  EXPECT_THAT(run_processes(GetParam(), run), Each(0));
}

TEST_P(OfSize, ManyOperationsMayBeUnderWay) {
  const int size = GetParam();
  const auto run = [&](Communicator& world) {
    std::vector<std::vector<double>> values(20, std::vector<double>(999, world.rank() + 1.0));
    std::vector<std::future<void>> done;
    for (auto& part : values) done.push_back(world.all_reduce(std::span<double>(part)));
    for (auto& one : done) one.get();
    for (const auto& part : values)
      for (const double value : part)
        if (value != size * (size + 1) / 2.0) return 1;
    return 0;
  };
  EXPECT_THAT(run_processes(size, run), Each(0));
}

TEST_P(OfSize, GathersInRankOrderAlsoInPlace) {
  const auto run = [](Communicator& world) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{100'001}}) {
      const auto size = static_cast<std::size_t>(world.size());
      const auto rank = static_cast<std::size_t>(world.rank());
      std::vector<int> all(count * size, -1);
      const auto own = std::span(all).subspan(rank * count, count);
      std::ranges::fill(own, world.rank());
      world.all_gather(std::as_bytes(own), std::as_writable_bytes(std::span(all))).get();
      for (std::size_t i = 0; i < all.size(); ++i)
        if (all[i] != static_cast<int>(i / count)) return 1;
    }
    return 0;
  };
  EXPECT_THAT(run_processes(GetParam(), run), Each(0));
}

TEST_P(OfSize, BroadcastCopiesTheRoot) {
  const int size = GetParam();
  const auto run = [&](Communicator& world) {
    for (int root = 0; root < size; ++root) {
      std::vector<int> values(100, world.rank());
      world.broadcast(std::as_writable_bytes(std::span(values)), root);
      if (values != std::vector<int>(100, root)) return 1;
    }
    return 0;
  };
  EXPECT_THAT(run_processes(size, run), Each(0));
}

// Every rank sends to every other without waiting for anybody's receive, while collectives are under way.
TEST_P(OfSize, MessagesArriveInOrderAndPassCollectivesBy) {
  const auto run = [](Communicator& world) {
    constexpr std::size_t kLength = 30'000;
    constexpr int kMessages = 5;
    const auto value = [](int from, int to, int message) { return from * 100 + to * 10 + message; };
    std::vector<float> gradients(1'000'000, 1);
    std::future<void> collective = world.all_reduce(gradients);
    std::vector<std::vector<int>> sent, received;
    std::vector<std::future<void>> done;
    sent.reserve(100);
    received.reserve(100);
    for (int message = 0; message < kMessages; ++message)
      for (int peer = 0; peer < world.size(); ++peer) {
        if (peer == world.rank()) continue;
        sent.emplace_back(kLength, value(world.rank(), peer, message));
        received.emplace_back(kLength);
        done.push_back(world.send(std::as_bytes(std::span(sent.back())), peer));
        done.push_back(world.receive(std::as_writable_bytes(std::span(received.back())), peer));
      }
    for (auto& one : done) one.get();
    collective.get();
    std::size_t next = 0;
    for (int message = 0; message < kMessages; ++message)
      for (int peer = 0; peer < world.size(); ++peer)
        if (peer != world.rank() &&
            received[next++] != std::vector<int>(kLength, value(peer, world.rank(), message)))
          return 1;
    return gradients == std::vector<float>(1'000'000, static_cast<float>(world.size())) ? 0 : 2;
  };
  EXPECT_THAT(run_processes(GetParam(), run), Each(0));
}

INSTANTIATE_TEST_SUITE_P(Processes, OfSize, testing::Values(1, 2, 3, 8));

TEST(Gloo, ARankThatComesLateIsWaitedFor) {
  const int port = free_port();
  ForkedProcesses ranks(2, [&](int rank) {
    if (rank == 0) std::this_thread::sleep_for(300ms);
    GlooCommunicator comm(world_options(rank, 2, port));
    comm.barrier();
    return 0;
  });
  EXPECT_THAT(ranks.wait_all(), Each(0));
}

TEST(Gloo, ARankThatNeverComesIsNamed) {
  const int port = free_port();
  ForkedProcesses ranks(1, [&](int) {
    GlooOptions options = world_options(0, 3, port);
    options.meeting_timeout = 2s;
    try {
      GlooCommunicator comm(options);
    } catch (const PeerLost& error) {
      return std::string(error.what()).find("rank 1 of 3 did not come") != std::string::npos ? 7 : 1;
    }
    return 2;
  });
  EXPECT_EQ(ranks.wait(0), 7);
}

TEST(Gloo, AWrongSecretKeepsARankOut) {
  const int port = free_port();
  ForkedProcesses ranks(2, [&](int rank) {
    GlooOptions options = world_options(rank, 2, port);
    options.meeting_timeout = 1s;
    if (rank == 1) options.secret = "of another attempt";
    try {
      GlooCommunicator comm(options);
    } catch (const PeerLost&) {
      return 7;
    }
    return 1;
  });
  EXPECT_THAT(ranks.wait_all(), Each(7));
}

TEST(Gloo, ADeadPeerIsPeerLost) {
  const int port = free_port();
  ForkedProcesses ranks(3, [&](int rank) {
    GlooCommunicator comm(world_options(rank, 3, port));
    std::vector<float> values(100000, 1);
    comm.all_reduce(values).get();
    if (rank == 1) ::raise(SIGKILL);
    try {
      for (int i = 0; i < 1000; ++i) comm.all_reduce(values).get();
    } catch (const PeerLost&) {
      return 7;
    }
    return 1;
  });
  EXPECT_EQ(ranks.wait(1), -SIGKILL);
  EXPECT_EQ(ranks.wait(0), 7);
  EXPECT_EQ(ranks.wait(2), 7);
}

TEST(Gloo, AStoppedPeerIsPeerLostAtTheTimeout) {
  const int port = free_port();
  ForkedProcesses ranks(2, [&](int rank) {
    GlooOptions options = world_options(rank, 2, port);
    options.operation_timeout = 2s;
    GlooCommunicator comm(options);
    const auto group = comm.split({{0, 1}}, "both");
    comm.barrier();
    if (rank == 1) ::raise(SIGSTOP);
    std::vector<std::byte> message(10);
    std::future<void> received = group->receive(message, 1);
    try {
      comm.barrier();
    } catch (const PeerLost&) {
      try {
        received.get();
      } catch (const PeerLost&) {
        return 7;
      }
    }
    return 1;
  });
  EXPECT_EQ(ranks.wait(0), 7);
}

// Says what `call` fails with, on standard error as well, and whether it names this rank.
int names_rank(const std::function<void()>& call, const std::string& words) {
  try {
    call();
  } catch (const PeerLost& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return std::string(error.what()).find(words) != std::string::npos ? 7 : 1;
  }
  return 2;
}

// It said that something timed out, and not whom everybody had waited for.
TEST(Gloo, ATimeoutNamesTheRankThatWasWaitedForInEveryKindOfOperation) {
  for (const int kind : {0, 1, 2, 3}) {
    const int port = free_port();
    ForkedProcesses ranks(4, [&](int rank) {
      GlooOptions options = world_options(rank, 4, port);
      options.operation_timeout = 2s;
      GlooCommunicator world(options);
      const auto odd = world.split({{0, 2}, {1, 3}}, "halves");
      if (rank == 3) ::raise(SIGSTOP);
      if (rank != 1) {  // waits for what no rank will do
        std::this_thread::sleep_for(4s);
        return 7;
      }
      std::vector<float> values(1'000'000, 1);
      std::vector<std::byte> message(10);
      const auto operate = [&] {
        if (kind == 0) odd->barrier();
        if (kind == 1) odd->all_reduce(values).get();
        if (kind == 2) odd->broadcast(message, 1);
        if (kind == 3) odd->receive(message, 1).get();
      };
      return names_rank(operate, "timed out waiting for rank 3");
    });
    EXPECT_EQ(ranks.wait(1), 7) << "kind " << kind;
  }
}

TEST(Gloo, ALostConnectionNamesItsRankAlsoWhenAskedAgain) {
  const int port = free_port();
  ForkedProcesses ranks(3, [&](int rank) {
    GlooCommunicator world(world_options(rank, 3, port));
    const auto late = world.split({{0}, {1, 2}}, "late");
    world.barrier();
    if (rank == 2) ::raise(SIGKILL);
    if (rank == 0) {
      std::this_thread::sleep_for(2s);
      return 7;
    }
    const int first = names_rank([&] { late->barrier(); }, "lost rank 2");
    const int again = names_rank([&] { late->barrier(); }, "lost rank 2");
    return first == 7 ? again : first;
  });
  EXPECT_EQ(ranks.wait(1), 7);
}

TEST(Gloo, AWaitThatGrowsLongIsToldOnceWhileItLasts) {
  const int port = free_port();
  ForkedProcesses ranks(2, [&](int rank) {
    GlooOptions options = world_options(rank, 2, port);
    std::mutex mutex;
    std::vector<std::string> told;
    options.long_wait = 300ms;
    options.on_long_wait = [&](const std::string& message) {
      const std::lock_guard lock(mutex);
      told.push_back(message);
    };
    GlooCommunicator world(options);
    world.barrier();
    if (rank == 1) std::this_thread::sleep_for(2s);
    world.barrier();
    world.barrier();
    const std::lock_guard lock(mutex);
    for (const std::string& message : told) std::fprintf(stderr, "%s\n", message.c_str());
    if (rank == 1) return 7;
    return std::ranges::count_if(told,
                                 [](const std::string& message) {
                                   return message.starts_with("waiting for rank 1 since ");
                                 }) == 1
               ? 7
               : 1;
  });
  EXPECT_THAT(ranks.wait_all(), Each(7));
}

// The third rank dies; the first is in another group than it and only hears of it through the second.
TEST(Gloo, ADeadPeerIsPeerLostInEveryGroup) {
  const int port = free_port();
  ForkedProcesses ranks(3, [&](int rank) {
    GlooCommunicator world(world_options(rank, 3, port));
    const auto early = world.split({{0, 1}, {2}}, "early");
    const auto late = world.split({{0}, {1, 2}}, "late");
    if (rank == 2) ::raise(SIGKILL);
    std::vector<float> values(100, 1);
    try {
      for (;;) {
        late->all_reduce(values).get();
        early->all_reduce(values).get();
      }
    } catch (const PeerLost&) {
      return 7;
    }
  });
  EXPECT_EQ(ranks.wait(2), -SIGKILL);
  EXPECT_EQ(ranks.wait(1), 7);
  EXPECT_EQ(ranks.wait(0), 7);
}

TEST(Gloo, ADeadPeerIsPeerLostForWhoWaitsForItsMessage) {
  const int port = free_port();
  ForkedProcesses ranks(2, [&](int rank) {
    GlooCommunicator world(world_options(rank, 2, port));
    world.barrier();
    if (rank == 1) ::raise(SIGKILL);
    std::vector<std::byte> message(100);
    try {
      world.receive(message, 1).get();
    } catch (const PeerLost&) {
      return 7;
    }
    return 1;
  });
  EXPECT_EQ(ranks.wait(0), 7);
}

TEST(Single, EverythingIsTheIdentity) {
  SingleCommunicator comm;
  std::vector<float> values{1, 2, 3};
  comm.all_reduce(values).get();
  EXPECT_EQ(values, (std::vector<float>{1, 2, 3}));
  std::vector<int> all(3);
  const std::vector<int> own{4, 5, 6};
  comm.all_gather(std::as_bytes(std::span(own)), std::as_writable_bytes(std::span(all))).get();
  EXPECT_EQ(all, own);
  comm.broadcast(std::as_writable_bytes(std::span(all)), 0);
  EXPECT_EQ(all, own);
  comm.barrier();
  comm.reduce_scatter(view_of(std::span(values), {3})).get();
  EXPECT_EQ(values, (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(comm.split({{0}}, "alone")->size(), 1);
}

TEST(SingleDeathTest, TalkingToOneselfIsABug) {
  EXPECT_DEATH(SingleCommunicator().send({}, 0).get(), "nobody to send to");
}

}  // namespace
}  // namespace podium
