#include "worker/train/gradient_reducer.h"

#include <gmock/gmock.h>

#include <random>

#include "tests/worker/comm/world.h"
#include "worker/comm/single_communicator.h"

namespace podium {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

// Remembers which ranges came.
class Watched final : public Communicator {
 public:
  explicit Watched(const float* begin) : begin_(begin) {}
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::future<void> all_reduce(TensorView values, Reduction reduction) override {
    ranges.emplace_back(values.data<float>() - begin_, values.size());
    return alone_.all_reduce(values, reduction);
  }
  std::future<void> all_reduce(std::span<double> values) override { return alone_.all_reduce(values); }
  std::future<void> reduce_scatter(TensorView values) override { return alone_.reduce_scatter(values); }
  std::future<void> all_gather(std::span<const std::byte> own, std::span<std::byte> all) override {
    return alone_.all_gather(own, all);
  }
  void broadcast(std::span<std::byte> bytes, int root) override { alone_.broadcast(bytes, root); }
  void barrier() override {}
  std::future<void> send(std::span<const std::byte> bytes, int peer) override {
    return alone_.send(bytes, peer);
  }
  std::future<void> receive(std::span<std::byte> bytes, int peer) override {
    return alone_.receive(bytes, peer);
  }
  std::unique_ptr<Communicator> split(const std::vector<std::vector<int>>& groups,
                                      const std::string& name) override {
    return alone_.split(groups, name);
  }

  std::vector<std::pair<std::ptrdiff_t, std::int64_t>> ranges;

 private:
  const float* begin_;
  SingleCommunicator alone_;
};

TEST(GradientReducer, SendsABucketAsSoonAsAllOfItIsFinal) {
  std::vector<float> gradients(160);
  Watched data(gradients.data());
  GradientReducer reducer(data, gradients, 48, false);
  for (int step = 0; step < 2; ++step) {
    data.ranges.clear();
    reducer.ready(120, 160);
    EXPECT_THAT(data.ranges, IsEmpty());
    reducer.ready(100, 120);
    EXPECT_THAT(data.ranges, ElementsAre(Pair(112, 48)));
    reducer.ready(10, 100);
    EXPECT_THAT(data.ranges, ElementsAre(Pair(112, 48), Pair(64, 48), Pair(16, 48)));
    reducer.ready(0, 10);
    reducer.finish();
    EXPECT_THAT(data.ranges, ElementsAre(Pair(112, 48), Pair(64, 48), Pair(16, 48), Pair(0, 16)));
  }
}

TEST(GradientReducer, OneRankUpdatesEverything) {
  std::vector<float> gradients(100);
  SingleCommunicator data;
  EXPECT_THAT(GradientReducer(data, gradients, 30, false).shard(), ElementsAre(FlatRange{0, 100}));
}

// Ranks add the same numbers, all-reduced on one side and sharded on the other.
int compare_with_all_reduce(Communicator& data) {
  constexpr std::size_t kSize = 16 * 8 * 9 * 5 * 7;
  std::vector<float> whole(kSize);
  std::minstd_rand random(static_cast<unsigned>(data.rank() + 1));
  for (float& value : whole) value = static_cast<float>(random()) * 1e-9F;
  std::vector<float> sharded = whole;
  GradientReducer all(data, whole, 5000, false);
  GradientReducer mine(data, sharded, 7000, true);
  const auto length = static_cast<std::int64_t>(kSize);
  for (GradientReducer* reducer : {&all, &mine}) {
    reducer->ready(length / 3, length);
    reducer->ready(0, length / 3);
    reducer->finish();
  }
  std::int64_t covered = 0;
  std::int64_t previous = 0;
  for (const FlatRange& range : mine.shard()) {
    if (range.begin < previous || range.begin % 16 != 0) return 1;
    for (auto i = static_cast<std::size_t>(range.begin); i < static_cast<std::size_t>(range.end); ++i)
      if (sharded[i] != whole[i]) return 2;
    previous = range.end;
    covered += range.size();
  }
  if (covered != length / data.size()) return 3;
  // After gathering, every rank has every sum: the shards cover everything.
  mine.gather(sharded);
  return sharded == whole ? 0 : 4;
}

TEST(GradientReducer, ShardsGetTheSumsOfAnAllReduceToTheBit) {
  for (const int size : {1, 2, 3, 8})
    EXPECT_THAT(run_processes(size, compare_with_all_reduce), Each(0)) << size;
}

TEST(GradientReducerDeathTest, AGapIsABug) {
  std::vector<float> gradients(100, 1);
  SingleCommunicator data;
  EXPECT_DEATH(GradientReducer(data, gradients, 30, false).ready(10, 50), "from the end");
}

TEST(GradientReducerDeathTest, AnUnfinishedStepIsABug) {
  std::vector<float> gradients(100, 1);
  SingleCommunicator data;
  GradientReducer reducer(data, gradients, 30, false);
  reducer.ready(50, 100);
  EXPECT_DEATH(reducer.finish(), "never became final");
}

}  // namespace
}  // namespace podium
