// Checkpoints that several ranks save and load together.
#include <gmock/gmock.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <memory>
#include <thread>

#include "tests/worker/checkpoint/fixture.h"
#include "tests/worker/comm/processes.h"
#include "worker/comm/gloo_communicator.h"
#include "worker/formats/safetensors.h"

namespace {

std::atomic<int> milliseconds_a_write{0};  // of a mebibyte or more

}  // namespace

// In place of the C library's: a disk that takes its time.
extern "C" ssize_t write(int file, const void* bytes, size_t count) {
  if (milliseconds_a_write > 0 && count >= std::size_t{1} << 20)
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds_a_write));
  return ::syscall(SYS_write, file, bytes, count);
}

namespace podium {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Runs `body` as every rank of a layout, each a process.
template <class Body>
std::unique_ptr<ForkedProcesses> start_ranks(const TestLayout& layout, const Body& body,
                                             std::chrono::milliseconds patience = std::chrono::minutes(5)) {
  const int port = free_port();
  return std::make_unique<ForkedProcesses>(layout.layout.world(), [=](int rank) {
    GlooOptions options;
    options.rank = rank;
    options.size = layout.layout.world();
    options.master_address = "127.0.0.1";
    options.master_port = port;
    options.secret = "secret";
    options.operation_timeout = patience;
    GlooCommunicator world(options);
    return body(world);
  });
}

TEST(CheckpointRanks, SaveTogetherAndLoadOnAnotherLayout) {
  const TempFolder folder;
  const TestLayout four{{2, 1, 2}, true}, two{{1, 2, 1}};
  const auto saving = start_ranks(four, [&](Communicator& world) {
    CheckpointStore store({folder.path(), world.rank() == 0}, 3, world, four.layout);
    RankTensors trained(four, world.rank());
    std::size_t told = 0;
    for (const int step : {100, 200}) {
      trained.refill(static_cast<float>(step), store.before_update());
      store.begin_save(state_at(step), trained.tensors());
      told += store.poll().size();
    }
    trained.refill(1000, store.before_update());
    told += store.finish().size();
    return told == (world.rank() == 0 ? 2u : 0u) ? 7 : 1;
  });
  EXPECT_THAT(saving->wait_all(), testing::Each(7));

  std::string bytes = read_file(folder.path() / "step-00000200" / part_name(3));
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  const auto load = [&](Communicator& world, std::int64_t step, std::size_t problems) {
    CheckpointStore store({folder.path(), world.rank() == 0}, 3, world, two.layout);
    RankTensors fresh(two, world.rank());
    std::vector<std::string> said;
    const auto state = store.load_newest({}, kText, fresh.tensors(), said);
    if (!state || state->step != step || fresh.wrong_values(static_cast<float>(step)) != 0) return 1;
    if (state->layout.data != 2 || state->layout.tensor != 2) return 2;
    if (said.size() != problems) return 3;
    return problems == 0 || said[0].find(part_name(3)) != std::string::npos ? 7 : 4;
  };
  EXPECT_THAT(start_ranks(two, [&](Communicator& world) { return load(world, 200, 0); })->wait_all(),
              testing::Each(7));
  write_file_atomic(folder.path() / "step-00000200" / part_name(3), bytes);
  EXPECT_THAT(start_ranks(two, [&](Communicator& world) { return load(world, 100, 1); })->wait_all(),
              testing::Each(7))
      << "one rank finds the damage, all pass the checkpoint over";
}

// As a client of NFS that still knows the folder of before the rename: what one rank is shown late was taken
// for broken by all, which went on from an older one and set the newest aside.
TEST(CheckpointRanks, AFileThatOneRankIsShownLateDoesNotMakeTheCheckpointABrokenOne) {
  const TempFolder folder;
  const TestLayout two{{1, 1, 2}};
  const auto saving = start_ranks(two, [&](Communicator& world) {
    CheckpointStore store({folder.path(), world.rank() == 0}, 3, world, two.layout);
    RankTensors trained(two, world.rank());
    trained.fill();
    store.begin_save(state_at(100), trained.tensors());
    store.finish();
    return 7;
  });
  ASSERT_THAT(saving->wait_all(), testing::Each(7));
  const fs::path part = folder.path() / checkpoint_name(100) / part_name(1),
                 hidden = folder.path() / "hidden";
  fs::rename(part, hidden);
  const auto loading = start_ranks(two, [&](Communicator& world) {
    CheckpointStore store({folder.path(), world.rank() == 0}, 3, world, two.layout);
    RankTensors fresh(two, world.rank());
    std::vector<std::string> said;
    std::jthread shows_late;
    if (world.rank() == 1)
      shows_late = std::jthread([&] {
        std::this_thread::sleep_for(std::chrono::seconds(1));
        fs::rename(hidden, part);
      });
    const auto state = store.load_newest({}, kText, fresh.tensors(), said);
    return state && state->step == 100 && said.empty() && fresh.wrong_values() == 0 ? 7 : 1;
  });
  EXPECT_THAT(loading->wait_all(), testing::Each(7));
}

// The first rank must not wait for ever for the part of one that is gone.
TEST(CheckpointRanks, ADeadRankEndsTheSaveOfTheOthers) {
  const TempFolder folder;
  const TestLayout two{{1, 1, 2}};
  const auto ranks = start_ranks(two, [&](Communicator& world) {
    CheckpointStore store({folder.path(), world.rank() == 0}, 3, world, two.layout);
    RankTensors trained(two, world.rank());
    if (world.rank() == 1) ::raise(SIGKILL);
    try {
      store.begin_save(state_at(100), trained.tensors());
      store.finish();
    } catch (const PeerLost&) {
      return 7;
    }
    return 1;
  });
  EXPECT_THAT(ranks->wait_all(), ElementsAre(7, -SIGKILL));
  EXPECT_THAT(checkpoints_in(folder.path()), IsEmpty());
}

// More than a save may hold in copies: an update beside it has to wait for the disk.
struct Large {
  Large() {
    parameters.add({.name = "weight", .shape = Shape{20'000, 1000}});
    parameters.allocate(32);
    for (std::vector<float>& moment : moments) moment.resize(parameters.weights().size());
  }
  CheckpointTensors tensors() {
    return {parameters,
            {{"first_moment", moments[0]}, {"second_moment", moments[1]}},
            {{0, static_cast<std::int64_t>(parameters.weights().size())}}};
  }
  void change(const BeforeChange& before_change) {
    for (const std::span<float> all : {parameters.weights(), std::span(moments[0]), std::span(moments[1])}) {
      if (before_change) before_change(std::as_bytes(all));
      std::ranges::fill(all, 1.0F);
    }
  }

  ParameterStore parameters;
  std::array<std::vector<float>, 2> moments;
};

// Its peers waited in the next collective and gave up on a rank that only waited for its disk.
TEST(CheckpointRanks, ASlowDiskOfOneDoesNotLetTheOthersRunIntoATimeOut) {
  const TempFolder folder;
  const TestLayout two{{1, 1, 2}};
  const auto body = [&](Communicator& world) {
    if (world.rank() == 1) milliseconds_a_write = 40;
    CheckpointStore store({folder.path(), world.rank() == 0}, 3, world, two.layout);
    Large trained;
    store.begin_save(state_at(100), trained.tensors());
    trained.change(store.before_update());
    world.barrier();  // the next step's
    store.begin_save(state_at(101), trained.tensors());
    world.barrier();
    return store.finish().size() + store.poll().size() == (world.rank() == 0 ? 2u : 0u) ? 7 : 1;
  };
  EXPECT_THAT(start_ranks(two, body, std::chrono::seconds(4))->wait_all(), testing::Each(7));
  const fs::path saved = folder.path() / checkpoint_name(100);
  const SafetensorsFile part(saved / part_name(1));
  for (const auto& [name, tensor] : part.tensors())
    EXPECT_TRUE(std::ranges::all_of(part.read_floats(name), [](float value) { return value == 0; })) << name;
}

}  // namespace
}  // namespace podium
