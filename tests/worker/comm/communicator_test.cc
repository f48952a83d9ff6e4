#include "worker/comm/communicator.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstdint>
#include <numeric>
#include <thread>

#include "tests/worker/comm/processes.h"
#include "worker/comm/gloo_communicator.h"
#include "worker/comm/single_communicator.h"

namespace podium {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;

GlooOptions options_of(int rank, int size, int port) {
  GlooOptions options;
  options.rank = rank;
  options.size = size;
  options.master_address = "127.0.0.1";
  options.master_port = port;
  options.secret = "of this attempt";
  return options;
}

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
  const int port = free_port();
  Processes ranks(size, [&](int rank) {
    GlooCommunicator comm(options_of(rank, size, port));
    for (const std::size_t count : {std::size_t{1}, std::size_t{7}, std::size_t{1000}, std::size_t{700001}}) {
      std::uint64_t first = 0;
      for (int repeat = 0; repeat < 3; ++repeat) {
        std::vector<float> values(count);
        for (std::size_t i = 0; i < count; ++i) values[i] = value_of(rank, i);
        comm.all_reduce(values).get();
        if (!near_sum(values, size)) return 1;
        const std::uint64_t hash = hash_of(values);
        if (repeat > 0 && hash != first) return 2;
        first = hash;
        std::vector<std::uint64_t> all(static_cast<std::size_t>(size));
        comm.all_gather(std::as_bytes(std::span(&hash, 1)), std::as_writable_bytes(std::span(all))).get();
        for (const std::uint64_t other : all)
          if (other != hash) return 3;
      }
    }
    comm.barrier();
    return 0;
  });
  EXPECT_THAT(ranks.wait_all(), Each(0));
}

TEST_P(OfSize, ManyOperationsMayBeUnderWay) {
  const int size = GetParam();
  const int port = free_port();
  Processes ranks(size, [&](int rank) {
    GlooCommunicator comm(options_of(rank, size, port));
    std::vector<std::vector<double>> values(20, std::vector<double>(999, rank + 1.0));
    std::vector<std::future<void>> done;
    for (auto& part : values) done.push_back(comm.all_reduce(std::span<double>(part)));
    for (auto& one : done) one.get();
    for (const auto& part : values)
      for (const double value : part)
        if (value != size * (size + 1) / 2.0) return 1;
    return 0;
  });
  EXPECT_THAT(ranks.wait_all(), Each(0));
}

TEST_P(OfSize, BroadcastCopiesTheRoot) {
  const int size = GetParam();
  const int port = free_port();
  Processes ranks(size, [&](int rank) {
    GlooCommunicator comm(options_of(rank, size, port));
    for (int root = 0; root < size; ++root) {
      std::vector<int> values(100, rank);
      comm.broadcast(std::as_writable_bytes(std::span(values)), root);
      if (values != std::vector<int>(100, root)) return 1;
    }
    return 0;
  });
  EXPECT_THAT(ranks.wait_all(), Each(0));
}

INSTANTIATE_TEST_SUITE_P(Processes, OfSize, testing::Values(1, 2, 3, 4));

TEST(Gloo, ARankThatComesLateIsWaitedFor) {
  const int port = free_port();
  Processes ranks(2, [&](int rank) {
    if (rank == 0) std::this_thread::sleep_for(300ms);
    GlooCommunicator comm(options_of(rank, 2, port));
    comm.barrier();
    return 0;
  });
  EXPECT_THAT(ranks.wait_all(), Each(0));
}

TEST(Gloo, ARankThatNeverComesIsNamed) {
  const int port = free_port();
  Processes ranks(1, [&](int) {
    GlooOptions options = options_of(0, 3, port);
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
  Processes ranks(2, [&](int rank) {
    GlooOptions options = options_of(rank, 2, port);
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
  Processes ranks(3, [&](int rank) {
    GlooCommunicator comm(options_of(rank, 3, port));
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
  Processes ranks(2, [&](int rank) {
    GlooOptions options = options_of(rank, 2, port);
    options.operation_timeout = 2s;
    GlooCommunicator comm(options);
    comm.barrier();
    if (rank == 1) ::raise(SIGSTOP);
    try {
      comm.barrier();
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
}

}  // namespace
}  // namespace podium
