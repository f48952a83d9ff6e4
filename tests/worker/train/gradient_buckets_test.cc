#include "worker/train/gradient_buckets.h"

#include <gmock/gmock.h>

#include "worker/comm/single_communicator.h"

namespace podium {
namespace {

using testing::ElementsAre;
using testing::Pair;

// Doubles what it sums, as if another rank held the same, and remembers which ranges came.
class Doubling final : public Communicator {
 public:
  explicit Doubling(const float* begin) : begin_(begin) {}
  int rank() const override { return 0; }
  int size() const override { return 2; }
  using Communicator::all_reduce;
  std::future<void> all_reduce(TensorView view, Reduction reduction) override {
    const std::span<float> values = view.values<float>();
    ranges.emplace_back(values.data() - begin_, values.size());
    for (float& value : values) value *= 2;
    return SingleCommunicator().all_reduce(view, reduction);
  }
  std::future<void> all_reduce(std::span<double> values) override {
    return SingleCommunicator().all_reduce(values);
  }
  void broadcast(std::span<std::byte>, int) override {}
  std::future<void> reduce_scatter(TensorView values) override {
    return SingleCommunicator().reduce_scatter(values);
  }
  std::future<void> all_gather(std::span<const std::byte>, std::span<std::byte>) override {
    return SingleCommunicator().all_reduce(std::span<double>());
  }
  void barrier() override {}
  std::future<void> send(std::span<const std::byte>, int) override { return reduce_scatter({}); }
  std::future<void> receive(std::span<std::byte>, int) override { return reduce_scatter({}); }
  std::unique_ptr<Communicator> split(const std::vector<std::vector<int>>&, const std::string&) override {
    return nullptr;
  }

  std::vector<std::pair<std::ptrdiff_t, std::size_t>> ranges;

 private:
  const float* begin_;
};

TEST(GradientBuckets, GatherRangesUntilABucketIsFull) {
  std::vector<float> gradients(100, 1);
  Doubling comm(gradients.data());
  GradientBuckets buckets(comm, gradients, 30);
  buckets.ready(90, 100);
  EXPECT_THAT(comm.ranges, testing::IsEmpty());
  buckets.ready(60, 90);
  EXPECT_THAT(comm.ranges, ElementsAre(Pair(60, 40u))) << "the full bucket travels at once";
  buckets.ready(10, 60);
  buckets.ready(0, 10);
  buckets.finish();
  EXPECT_THAT(comm.ranges, ElementsAre(Pair(60, 40u), Pair(10, 50u), Pair(0, 10u)));
  EXPECT_THAT(gradients, testing::Each(2.0F)) << "every element once";
}

TEST(GradientBucketsDeathTest, AGapIsABug) {
  std::vector<float> gradients(100, 1);
  SingleCommunicator comm;
  EXPECT_DEATH(GradientBuckets(comm, gradients, 30).ready(10, 50), "from the end");
}

}  // namespace
}  // namespace podium
