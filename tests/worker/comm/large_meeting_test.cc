// The meeting of as many ranks as Megatron's 8.3 B record had GPUs on, and more: threads stand in for the
// processes. Gloo's connections themselves do not fit into one machine (1,472 ranks make a million); what
// grows with the square of the ranks elsewhere is all here.
#include <gmock/gmock.h>
#include <sys/resource.h>

#include <thread>

#include "common/base/check.h"
#include "worker/comm/address_exchange.h"
#include "worker/comm/group.h"
#include "worker/comm/parallel.h"
#include "worker/comm/single_communicator.h"

namespace podium {
namespace {

using namespace std::chrono_literals;

constexpr ParallelLayout kLayout{.tensor = 8, .pipeline = 1, .data = 184};
constexpr auto kPatience = 100s;

// What rank `from` tells rank `to` of the group `name`: as long as a real address.
std::string address(const std::string& name, int from, int to) {
  std::string text =
      std::to_string(std::hash<std::string>{}(name)) + ":" + std::to_string(from) + ":" + std::to_string(to);
  text.resize(28, '.');
  return text;
}

// Meets as GlooCommunicator does, by the same code; its connections are made up.
class MeetingOnly final : public Communicator {
 public:
  MeetingOnly(RendezvousClient& client, std::string name, int rank, int size)
      : client_(client), name_(std::move(name)), rank_(rank), size_(size) {
    int connected = 0;
    connect_all(
        client_, name_, rank_, size_, [this](int peer) { return address(name_, rank_, peer); },
        [&](int peer, const std::string& there) {
          PODIUM_CHECK(there == address(name_, peer, rank_), "the address that the peer has for this rank");
          ++connected;
        },
        kPatience);
    PODIUM_CHECK(connected == size_ - 1, "every peer is connected");
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::unique_ptr<Communicator> split(const std::vector<std::vector<int>>& groups,
                                      const std::string& name) override {
    OwnGroup group = own_group(groups, rank_, name_, splits_++, name);
    if (group.members.size() == 1) return std::make_unique<SingleCommunicator>();
    return std::make_unique<MeetingOnly>(client_, std::move(group.name), group.rank,
                                         static_cast<int>(group.members.size()));
  }

  std::future<void> all_reduce(TensorView, Reduction) override { return none(); }
  std::future<void> all_reduce(std::span<double>) override { return none(); }
  std::future<void> reduce_scatter(TensorView) override { return none(); }
  std::future<void> all_gather(std::span<const std::byte>, std::span<std::byte>) override { return none(); }
  void broadcast(std::span<std::byte>, int) override { none(); }
  void barrier() override { none(); }
  std::future<void> send(std::span<const std::byte>, int) override { return none(); }
  std::future<void> receive(std::span<std::byte>, int) override { return none(); }

 private:
  static std::future<void> none() { PODIUM_CHECK(false, "stand-ins only meet"); }

  RendezvousClient& client_;
  std::string name_;
  int rank_;
  int size_;
  int splits_ = 0;
};

void raise_file_limit(rlim_t files) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = std::min(std::max(limit.rlim_cur, files), limit.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

struct Sizes {
  int tensor = 0;
  int pipeline = 0;
  int data = 0;
  int model = 0;
  int ends = 0;

  bool operator==(const Sizes&) const = default;
};

Sizes meet(int port, int rank) {
  RendezvousClient client("127.0.0.1", port, "secret", kPatience);
  meet_all(client, "rank", rank, kLayout.world(), kPatience);
  MeetingOnly world(client, "world", rank, kLayout.world());
  const ParallelGroups groups = make_groups(world, kLayout);
  meet_all(client, "end", rank, kLayout.world(), kPatience);  // the server outlives everybody's use of it
  return {groups.tensor->size(), groups.pipeline->size(), groups.data->size(), groups.model->size(),
          groups.ends->size()};
}

TEST(ALargeMeeting, Of1472RanksFormsTheGroupsOfItsLayout) {
  static_assert(kLayout.tensor * kLayout.pipeline * kLayout.data == 1472);
  raise_file_limit(2 * 1472 + 256);
  RendezvousServer server("127.0.0.1", 0, "secret", 3 * kLayout.world() + 64);
  std::vector<std::string> errors(1472);
  std::vector<Sizes> sizes(1472);
  {
    std::vector<std::jthread> ranks;
    for (int rank = 0; rank < kLayout.world(); ++rank)
      ranks.emplace_back([&, rank] {
        const auto i = static_cast<std::size_t>(rank);
        try {
          sizes[i] = meet(server.port(), rank);
        } catch (const std::exception& error) {
          errors[i] = error.what();
        }
      });
  }
  EXPECT_THAT(errors, testing::Each(""));
  EXPECT_THAT(sizes, testing::Each(Sizes{8, 1, 184, 8, 1}));
}

TEST(ALargeMeeting, ThatMissesARankNamesIt) {
  constexpr int kRanks = 200;
  raise_file_limit(2 * kRanks + 256);
  RendezvousServer server("127.0.0.1", 0, "secret", 3 * kRanks);
  std::vector<std::string> errors(kRanks);
  {
    std::vector<std::jthread> ranks;
    for (int rank = 0; rank < kRanks; ++rank) {
      if (rank == 137) continue;
      ranks.emplace_back([&, rank] {
        RendezvousClient client("127.0.0.1", server.port(), "secret", kPatience);
        try {
          meet_all(client, "rank", rank, kRanks, 3s);
        } catch (const PeerLost& error) {
          errors[static_cast<std::size_t>(rank)] = error.what();
        }
      });
    }
  }
  errors[137] = errors[0];
  EXPECT_THAT(errors, testing::Each(testing::HasSubstr("rank 137 of 200 did not come")));
}

}  // namespace
}  // namespace podium
