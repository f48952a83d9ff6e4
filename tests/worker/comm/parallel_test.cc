#include "worker/comm/parallel.h"

#include <gmock/gmock.h>

#include <numeric>

#include "tests/worker/comm/world.h"
#include "worker/comm/single_communicator.h"

namespace podium {
namespace {

using testing::Each;

TEST(ParallelLayout, TensorRanksAreNeighboursThenDataThenPipeline) {
  const ParallelLayout layout{.tensor = 2, .pipeline = 2, .data = 3};
  EXPECT_EQ(layout.world(), 12);
  for (int rank = 0; rank < layout.world(); ++rank) EXPECT_EQ(rank_of(layout, place_of(layout, rank)), rank);
  const ParallelPlace place = place_of(layout, 9);
  EXPECT_EQ(place.tensor, 1);
  EXPECT_EQ(place.data, 1);
  EXPECT_EQ(place.pipeline, 1);
}

// The world's ranks in a group, as seen by exchanging them in it.
std::vector<int> members(Communicator& group, int world_rank) {
  std::vector<int> all(static_cast<std::size_t>(group.size()));
  group.all_gather(std::as_bytes(std::span(&world_rank, 1)), std::as_writable_bytes(std::span(all))).get();
  return all;
}

std::vector<int> every(int step, int begin, int count) {
  std::vector<int> ranks;
  for (int i = 0; i < count; ++i) ranks.push_back(begin + i * step);
  return ranks;
}

TEST(ParallelGroups, HoldWhomTheyShould) {
  const ParallelLayout layout{.tensor = 2, .pipeline = 2, .data = 2};
  const auto run = [&](Communicator& world) {
    const int rank = world.rank();
    const ParallelGroups groups = make_groups(world, layout);
    const auto [tensor, pipeline, data] = groups.place;
    if (members(*groups.tensor, rank) != every(1, rank - tensor, 2)) return 1;
    if (members(*groups.data, rank) != every(2, rank - 2 * data, 2)) return 2;
    if (members(*groups.pipeline, rank) != every(4, rank - 4 * pipeline, 2)) return 3;
    if (members(*groups.ends, rank) != every(4, rank - 4 * pipeline, 2)) return 4;
    const int first = 2 * data;
    if (members(*groups.model, rank) != std::vector{first, first + 1, first + 4, first + 5}) return 5;
    if (groups.pipeline->rank() != pipeline || groups.tensor->rank() != tensor) return 6;
    return 0;
  };
  EXPECT_THAT(run_processes(8, run), Each(0));
}

TEST(ParallelGroups, AMiddleStageIsNoEnd) {
  const auto run = [&](Communicator& world) {
    const ParallelGroups groups = make_groups(world, {.tensor = 1, .pipeline = 4, .data = 1});
    const bool end = groups.first_stage() || groups.last_stage();
    if (members(*groups.ends, world.rank()) != (end ? std::vector{0, 3} : std::vector{world.rank()}))
      return 1;
    return groups.pipeline->size() == 4 && groups.tensor->size() == 1 && groups.data->size() == 1 ? 0 : 2;
  };
  EXPECT_THAT(run_processes(4, run), Each(0));
}

// Groups keep their own order: each rank turns to its two groups in another order than its neighbours do.
TEST(ParallelGroups, DoNotWaitForEachOther) {
  const auto run = [&](Communicator& world) {
    const ParallelGroups groups = make_groups(world, {.tensor = 2, .pipeline = 1, .data = 2});
    for (int i = 0; i < 20; ++i) {
      std::vector<float> a(50'000, 1), b(50'000, 1);
      const bool first = (world.rank() + i) % 2 == 0;
      std::future<void> one = (first ? groups.tensor : groups.data)->all_reduce(a);
      std::future<void> other = (first ? groups.data : groups.tensor)->all_reduce(b);
      one.get();
      other.get();
      if (a.back() != 2 || b.back() != 2) return 1;
    }
    return 0;
  };
  EXPECT_THAT(run_processes(4, run), Each(0));
}

TEST(ParallelGroups, OneProcessIsAloneInAll) {
  SingleCommunicator world;
  const ParallelGroups groups = make_groups(world, {});
  for (const auto* group : {&groups.tensor, &groups.pipeline, &groups.data, &groups.model, &groups.ends})
    EXPECT_EQ((*group)->size(), 1);
  EXPECT_TRUE(groups.first_stage());
  EXPECT_TRUE(groups.last_stage());
}

TEST(ParallelGroupsDeathTest, ALayoutOfAnotherSizeIsABug) {
  SingleCommunicator world;
  EXPECT_DEATH(make_groups(world, {.tensor = 2, .pipeline = 1, .data = 1}), "not of this world's size");
}

}  // namespace
}  // namespace podium
