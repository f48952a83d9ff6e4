// Communicators for a device, each rank a thread with a device of its own that ThreadDevice makes up: staged
// through the host, and NCCL's over a made-up NCCL.
#include "worker/comm/device_communicator.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <thread>

#include "tests/worker/comm/fake_nccl.h"
#include "tests/worker/comm/thread_device.h"
#include "tests/worker/comm/world.h"
#include "worker/comm/device_transport.h"
#include "worker/comm/nccl_communicator.h"
#include "worker/comm/single_communicator.h"
#include "worker/comm/staged_communicator.h"

namespace podium {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

enum class Kind { staged, nccl };

// One rank's device, and its communicator over a world of the host.
struct Rank {
  Rank(Kind kind, int rank, int size, int port, std::chrono::milliseconds timeout = 1min)
      : device("GPU-" + std::to_string(rank)), stream(device.make_stream(StreamPriority::normal)) {
    GlooOptions options = world_options(rank, size, port);
    options.operation_timeout = timeout;
    std::unique_ptr<Communicator> host;
    if (size == 1)
      host = std::make_unique<SingleCommunicator>();
    else
      host = std::make_unique<GlooCommunicator>(options);
    if (kind == Kind::staged || size == 1)
      world = std::make_unique<StagedCommunicator>(std::move(host), memory());
    else
      world = std::make_unique<NcclCommunicator>(std::move(host), memory(), fake_nccl(), options);
  }

  MemorySpace memory() { return {&device, stream.get()}; }

  ThreadDevice device;
  std::unique_ptr<DeviceStream> stream;
  std::unique_ptr<Communicator> world;
};

// Elements in a device's memory, written and read by its stream without the host waiting.
template <class T>
class OnDevice {
 public:
  OnDevice(Rank& rank, std::vector<T> values)
      : memory_(rank.memory()),
        host_(std::move(values)),
        at_(memory_.device->allocate(host_.size() * sizeof(T))) {
    memory_.copy(at_, host_.data(), host_.size() * sizeof(T));
  }
  ~OnDevice() {
    memory_.stream->synchronise();
    memory_.device->free(at_);
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

  std::span<T> values() const { return {static_cast<T*>(at_), host_.size()}; }
  std::span<std::byte> bytes() const { return std::as_writable_bytes(values()); }
  TensorView view() const { return {at_, dtype_of<T>, {static_cast<std::int64_t>(host_.size())}}; }
  std::vector<T> read() const { return memory_.downloaded(std::span<const T>(values())); }

 private:
  MemorySpace memory_;
  std::vector<T> host_;
  void* at_;
};

void run_ranks(Kind kind, int size, const std::function<void(Rank& rank)>& run) {
  const int port = free_port();
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      Rank own(kind, rank, size, port);
      run(own);
      own.world->barrier();
    });
}

template <class T>
std::vector<T> values_of(int rank, std::size_t count) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = from_float<T>(std::sin(static_cast<float>(i) * 0.37F + static_cast<float>(rank)) *
                              std::pow(10.0F, static_cast<float>(rank % 3)));
  return values;
}

template <class T>
std::vector<std::uint8_t> bits_of(std::span<const T> values) {
  const auto* begin = reinterpret_cast<const std::uint8_t*>(values.data());
  return {begin, begin + values.size_bytes()};
}

class OnDevices : public testing::TestWithParam<std::tuple<Kind, int>> {
 protected:
  void run(const std::function<void(Rank& rank)>& run) const {
    run_ranks(std::get<0>(GetParam()), std::get<1>(GetParam()), run);
  }
};

// Both kinds here add in the order of the ranks, as the host's communicator does.
template <class T>
void check_reductions(Rank& rank) {
  Communicator& world = *rank.world;
  const auto parts = static_cast<std::size_t>(world.size());
  for (const std::size_t count : {parts, 60 * parts, 30'000 * parts}) {
    const auto own = values_of<T>(world.rank(), count);
    for (const Reduction reduction : {Reduction::sum, Reduction::max}) {
      std::vector<T> expected = own;
      world.all_reduce({expected.data(), dtype_of<T>, {static_cast<std::int64_t>(count)}}, reduction).get();
      const OnDevice<T> reduced(rank, own);
      world.all_reduce(reduced.view(), reduction).get();
      EXPECT_EQ(bits_of<T>(reduced.read()), bits_of<T>(expected));
    }
    std::vector<T> expected = own;
    world.all_reduce({expected.data(), dtype_of<T>, {static_cast<std::int64_t>(count)}}).get();
    const OnDevice<T> scattered(rank, own);
    world.reduce_scatter(scattered.view()).get();
    const std::size_t begin = count / parts * static_cast<std::size_t>(world.rank());
    EXPECT_EQ(bits_of(std::span<const T>(scattered.read()).subspan(begin, count / parts)),
              bits_of(std::span<const T>(expected).subspan(begin, count / parts)));
  }
}

TEST_P(OnDevices, ReduceAsTheHostDoes) {
  run([](Rank& rank) {
    check_reductions<float>(rank);
    check_reductions<BFloat16>(rank);
    check_reductions<Float16>(rank);
  });
}

TEST_P(OnDevices, GatherInRankOrderAlsoInPlace) {
  run([](Rank& rank) {
    Communicator& world = *rank.world;
    const auto size = static_cast<std::size_t>(world.size());
    const auto place = static_cast<std::size_t>(world.rank());
    for (const std::size_t count : {std::size_t{1}, std::size_t{20'001}}) {
      std::vector<float> expected;
      for (std::size_t i = 0; i < count * size; ++i) expected.push_back(static_cast<float>(i / count));
      const OnDevice<float> own(rank, std::vector<float>(count, static_cast<float>(place)));
      const OnDevice<float> all(rank, std::vector<float>(count * size, -1));
      world.all_gather(own.bytes(), all.bytes()).get();
      EXPECT_EQ(all.read(), expected);
      std::vector<float> start(count * size, -1);
      std::fill_n(start.begin() + static_cast<std::ptrdiff_t>(place * count), count,
                  static_cast<float>(place));
      const OnDevice<float> in_place(rank, start);
      world
          .all_gather(in_place.bytes().subspan(place * count * sizeof(float), count * sizeof(float)),
                      in_place.bytes())
          .get();
      EXPECT_EQ(in_place.read(), expected);
    }
  });
}

// Everybody to everybody, both ways at once, the first messages before anybody has posted a receive.
TEST_P(OnDevices, MessagesArriveInOrderAndPassCollectivesBy) {
  run([](Rank& rank) {
    Communicator& world = *rank.world;
    constexpr std::size_t kLength = 3000;
    const auto value = [](int from, int to, int message) {
      return static_cast<float>(from * 100 + to * 10 + message);
    };
    const OnDevice<float> gradients(rank, std::vector<float>(50'000, 1));
    std::future<void> collective = world.all_reduce(gradients.view());
    std::vector<std::unique_ptr<OnDevice<float>>> sent, received;
    std::vector<float> expected;
    std::vector<std::future<void>> done;
    for (int message = 0; message < 3; ++message)
      for (int peer = 0; peer < world.size(); ++peer) {
        if (peer == world.rank()) continue;
        sent.push_back(std::make_unique<OnDevice<float>>(
            rank, std::vector<float>(kLength, value(world.rank(), peer, message))));
        done.push_back(world.send(sent.back()->bytes(), peer));
      }
    for (int message = 0; message < 3; ++message)
      for (int peer = 0; peer < world.size(); ++peer) {
        if (peer == world.rank()) continue;
        received.push_back(std::make_unique<OnDevice<float>>(rank, std::vector<float>(kLength, -1)));
        expected.push_back(value(peer, world.rank(), message));
        done.push_back(world.receive(received.back()->bytes(), peer));
      }
    for (auto& one : done) one.get();
    collective.get();
    for (std::size_t i = 0; i < received.size(); ++i)
      EXPECT_EQ(received[i]->read(), std::vector<float>(kLength, expected[i]));
    EXPECT_EQ(gradients.read(), std::vector<float>(50'000, static_cast<float>(world.size())));
  });
}

// Buckets of gradients: the next is computed while those before it travel.
TEST_P(OnDevices, ManyOperationsMayBeUnderWay) {
  run([](Rank& rank) {
    Communicator& world = *rank.world;
    std::vector<std::unique_ptr<OnDevice<float>>> buckets;
    std::vector<std::future<void>> done;
    for (int i = 0; i < 20; ++i) {
      buckets.push_back(std::make_unique<OnDevice<float>>(
          rank, std::vector<float>(500, static_cast<float>(i * (world.rank() + 1)))));
      done.push_back(world.all_reduce(buckets.back()->view()));
    }
    for (auto& one : done) one.get();
    const float ranks = static_cast<float>(world.size() * (world.size() + 1) / 2);
    for (int i = 0; i < 20; ++i)
      EXPECT_EQ(buckets[static_cast<std::size_t>(i)]->read(),
                std::vector<float>(500, static_cast<float>(i) * ranks));
  });
}

TEST_P(OnDevices, TheHostsMemoryTravelsAsWell) {
  run([](Rank& rank) {
    Communicator& world = *rank.world;
    const int size = world.size();
    std::vector<double> sums(7, world.rank() + 1.0);
    world.all_reduce(std::span<double>(sums)).get();
    EXPECT_EQ(sums, std::vector<double>(7, size * (size + 1) / 2.0));
    std::vector<int> told(3, world.rank());
    world.broadcast(std::as_writable_bytes(std::span(told)), size - 1);
    EXPECT_EQ(told, std::vector<int>(3, size - 1));
    std::vector<int> all(static_cast<std::size_t>(size));
    const int own = world.rank();
    world.all_gather(std::as_bytes(std::span(&own, 1)), std::as_writable_bytes(std::span(all))).get();
    std::vector<int> ranks(all.size());
    std::iota(ranks.begin(), ranks.end(), 0);
    EXPECT_EQ(all, ranks);
    world.all_reduce(TensorView{nullptr, DType::f32, {0}}).get();
  });
}

TEST_P(OnDevices, GroupsHaveTheirOwnCollectives) {
  run([](Rank& rank) {
    Communicator& world = *rank.world;
    const int size = world.size();
    std::vector<std::vector<int>> halves(static_cast<std::size_t>(std::min(size, 2)));
    for (int r = 0; r < size; ++r) halves[static_cast<std::size_t>(r % 2)].push_back(r);
    const auto half = world.split(halves, "half");
    std::vector<std::vector<int>> single;
    for (int r = 0; r < size; ++r) single.push_back({r});
    const auto alone = world.split(single, "alone");
    const OnDevice<float> a(rank, std::vector<float>(100, static_cast<float>(world.rank())));
    const OnDevice<float> b(rank, std::vector<float>(100, 3));
    half->all_reduce(a.view()).get();
    alone->all_reduce(b.view()).get();
    float expected = 0;
    for (int r = world.rank() % 2; r < size; r += 2) expected += static_cast<float>(r);
    EXPECT_EQ(a.read(), std::vector<float>(100, expected));
    EXPECT_EQ(b.read(), std::vector<float>(100, 3));
  });
  EXPECT_EQ(fake_nccl_open(), 0) << "every communicator of NCCL was destroyed";
}

INSTANTIATE_TEST_SUITE_P(All, OnDevices,
                         testing::Combine(testing::Values(Kind::staged, Kind::nccl),
                                          testing::Values(1, 2, 4)));

// Whether the operation of a rank whose peer does not come ends, and how.
std::string outcome_of(Rank& rank) {
  try {
    const OnDevice<float> values(rank, std::vector<float>(10, 1));
    rank.world->all_reduce(values.view()).get();
    rank.stream->synchronise();
    rank.world->all_reduce(values.view()).get();
  } catch (const PeerLost& lost) {
    return lost.what();
  }
  return "no error";
}

TEST(Nccl, AnOperationThatNobodyJoinsIsPeerLostAtTheTimeout) {
  const int port = free_port();
  std::promise<void> over;
  std::jthread other([&] {
    const Rank rank(Kind::nccl, 1, 2, port);
    over.get_future().wait();
  });
  Rank rank(Kind::nccl, 0, 2, port, 500ms);
  EXPECT_THAT(outcome_of(rank), AllOf(HasSubstr("world: no answer for"), HasSubstr("another rank is lost")));
  over.set_value();
}

TEST(Nccl, APeerThatGoesIsPeerLostLongBeforeTheTimeout) {
  NcclWatchdog watchdog(24h, 50ms);
  ThreadDevice device("GPU-0");
  const auto stream = device.make_stream(StreamPriority::normal);
  const NcclSetting setting{fake_nccl(), device, watchdog, 1min};
  nccl::UniqueId id{};
  setting.library.get_unique_id(&id);
  std::jthread other([&] { const NcclConnection connection(setting, id, 1, 2, "pair"); });
  NcclConnection connection(setting, id, 0, 2, "pair");
  float value = 1;
  const auto put = [&] {
    return connection.put(*stream->record(), [&](nccl::Comm comm, nccl::Stream on) {
      return setting.library.all_reduce(&value, &value, 1, nccl::kFloat32, nccl::kSum, comm, on);
    });
  };
  const auto done = put();
  EXPECT_NO_THROW(watchdog.check());
  watchdog.peer_gone("rank 1");
  done->synchronise();
  EXPECT_THROW(watchdog.check(), PeerLost);
  EXPECT_THROW(put(), PeerLost);
}

TEST(PeerWatch, TellsEverybodyWhoHasGone) {
  const int port = free_port();
  ForkedProcesses ranks(3, [&](int rank) {
    GlooCommunicator world(world_options(rank, 3, port));
    std::promise<std::string> gone;
    const PeerWatch watch(world_options(rank, 3, port), [&](const std::string& who) { gone.set_value(who); });
    world.barrier();
    if (rank == 1) ::raise(SIGKILL);
    return gone.get_future().get() == "rank 1" ? 7 : 1;
  });
  EXPECT_EQ(ranks.wait(1), -SIGKILL);
  EXPECT_EQ(ranks.wait(2), 7);
  EXPECT_EQ(ranks.wait(0), 7);
}

TEST(PeerWatch, TellsWhenTheRendezvousItselfIsGone) {
  const int port = free_port();
  ForkedProcesses ranks(2, [&](int rank) {
    GlooCommunicator world(world_options(rank, 2, port));
    std::promise<std::string> gone;
    const PeerWatch watch(world_options(rank, 2, port), [&](const std::string& who) { gone.set_value(who); });
    world.barrier();
    if (rank == 0) ::raise(SIGKILL);
    return gone.get_future().get().find("rank 0") != std::string::npos ? 7 : 1;
  });
  EXPECT_EQ(ranks.wait(0), -SIGKILL);
  EXPECT_EQ(ranks.wait(1), 7);
}

TEST(NcclLibrary, SaysWhatIsMissingAndWhatToDo) {
  try {
    nccl::open_library("libpodium-no-such-nccl.so.2");
    FAIL() << "no exception";
  } catch (const nccl::Unavailable& reason) {
    EXPECT_THAT(reason.what(), AllOf(HasSubstr("libpodium-no-such-nccl.so.2"), HasSubstr("install NCCL"),
                                     HasSubstr("PODIUM_COMMUNICATOR=staged")));
  }
  try {
    nccl::open_library("libc.so.6");
    FAIL() << "no exception";
  } catch (const nccl::Unavailable& reason) {
    EXPECT_THAT(reason.what(), HasSubstr("libc.so.6 lacks ncclGetVersion"));
  }
}

std::string transport_of(int size, const std::string& choice, bool shared) {
  const int port = free_port();
  std::vector<std::string> outcomes(static_cast<std::size_t>(size));
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < size; ++rank)
      threads.emplace_back([&, rank] {
        ThreadDevice device(shared ? "GPU-a" : "GPU-" + std::to_string(rank));
        const auto stream = device.make_stream(StreamPriority::normal);
        const GlooOptions options = world_options(rank, size, port);
        auto& outcome = outcomes[static_cast<std::size_t>(rank)];
        try {
          const auto world = make_device_communicator(std::make_unique<GlooCommunicator>(options),
                                                      {&device, stream.get()}, options, choice);
          outcome = dynamic_cast<StagedCommunicator*>(world.get()) ? "staged" : "nccl";
          world->barrier();
        } catch (const std::exception& error) {
          outcome = error.what();
        }
      });
  }
  EXPECT_EQ(outcomes, std::vector<std::string>(outcomes.size(), outcomes[0]));
  return outcomes[0];
}

TEST(DeviceTransport, GoesThroughTheHostWhereRanksShareADevice) {
  EXPECT_EQ(transport_of(2, "", true), "staged");
  EXPECT_EQ(transport_of(2, "staged", false), "staged");
  EXPECT_EQ(
      transport_of(2, "nccl", true),
      "PODIUM_COMMUNICATOR=nccl needs a device for every rank, but ranks 0 and 1 share the device GPU-a");
  EXPECT_EQ(transport_of(2, "mpi", false), "PODIUM_COMMUNICATOR is \"mpi\": it must be nccl or staged");
}

}  // namespace
}  // namespace podium
