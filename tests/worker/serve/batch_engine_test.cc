// Requests through a real thread, with passes that the test makes up.
#include "worker/serve/batch_engine.h"

#include <gmock/gmock.h>

#include <future>
#include <stdexcept>
#include <utility>

namespace podium {
namespace {

using std::chrono::seconds;
using Kind = EngineResult::Kind;

TextSequence sequence_of(int length) {
  TextSequence sequence;
  sequence.ids.assign(static_cast<std::size_t>(length), 7);
  return sequence;
}

// Passes that tell a sequence's length and how many were computed together, the last sequence first. Each
// waits until it is let go; what is early is given before.
class MadeUpPasses {
 public:
  void compute(std::span<const TextSequence> sequences, const GiveResult& give) {
    std::unique_lock lock(mutex_);
    ++begun_;
    changed_.notify_all();
    const std::size_t early = std::exchange(early_, 0);
    give_between(sequences, sequences.size() - early, sequences.size(), give);
    changed_.wait(lock, [&] { return allowed_ > 0; });
    --allowed_;
    if (std::exchange(fails_, false)) throw std::runtime_error("made up");
    give_between(sequences, 0, sequences.size() - early, give);
  }
  // The next pass gives so many of its last sequences before it is let go.
  void give_early(std::size_t sequences) {
    const std::scoped_lock lock(mutex_);
    early_ = sequences;
  }
  void let_go(int passes) {
    const std::scoped_lock lock(mutex_);
    allowed_ += passes;
    changed_.notify_all();
  }
  void fail_next() {
    const std::scoped_lock lock(mutex_);
    fails_ = true;
  }
  void wait_for_pass(int number) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return begun_ >= number; });
  }

 private:
  static void give_between(std::span<const TextSequence> sequences, std::size_t first, std::size_t end,
                           const GiveResult& give) {
    for (std::size_t i = end; i-- > first;)
      give(i, {.scores = {static_cast<float>(sequences[i].length()), static_cast<float>(sequences.size())}});
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  int begun_ = 0, allowed_ = 0;
  std::size_t early_ = 0;
  bool fails_ = false;
};

class BatchEngineTest : public testing::Test {
 protected:
  ~BatchEngineTest() override { passes_.let_go(1000); }

  // Nothing where there is no room.
  std::optional<std::future<EngineResult>> ask(const std::vector<int>& lengths,
                                               std::chrono::milliseconds timeout = seconds(600)) {
    const auto told = std::make_shared<std::promise<EngineResult>>();
    EngineRequest request{.top = top_, .arrived = std::chrono::steady_clock::now()};
    request.deadline = request.arrived + timeout;
    for (const int length : lengths) request.sequences.push_back(sequence_of(length));
    request.done = [told](EngineResult result) { told->set_value(std::move(result)); };
    std::optional<QueueRoom> room = engine_.reserve();
    if (!room) return std::nullopt;
    number_ = engine_.submit(std::move(request), std::move(*room));
    if (!number_) return std::nullopt;
    return told->get_future();
  }

  std::optional<std::uint64_t> number_;  // of the request before
  int top_ = 1;                          // of the next request
  std::vector<int> tops_;                // of the pass before
  MadeUpPasses passes_;
  ServeMeter meter_;
  BatchEngine engine_{[this](HeadPass, std::span<const TextSequence> sequences, std::span<const int> tops,
                             const GiveResult& give) {
                        tops_.assign(tops.begin(), tops.end());
                        passes_.compute(sequences, give);
                      },
                      {.max_tokens = 10, .max_waiting = 6},
                      meter_};
};

TEST_F(BatchEngineTest, WhatCameMeanwhileIsComputedTogether) {
  auto first = ask({1});
  passes_.wait_for_pass(1);
  auto second = ask({2}), third = ask({3});
  passes_.let_go(2);
  EXPECT_THAT(first->get().results[0].scores, testing::ElementsAre(1, 1));
  EXPECT_THAT(second->get().results[0].scores, testing::ElementsAre(2, 2));
  EXPECT_THAT(third->get().results[0].scores, testing::ElementsAre(3, 2));
  const ServeMeter::Figures figures = meter_.figures();
  EXPECT_EQ(figures.batch_sequences.count, 2U);
  EXPECT_EQ(figures.batch_sequences.sum, 3);
  EXPECT_EQ(figures.batch_tokens.sum, 6);
  EXPECT_EQ(figures.waited.count, 3U);
  EXPECT_EQ(figures.computed.count, 2U);
}

TEST_F(BatchEngineTest, ARequestOfSeveralBatchesIsToldOnce) {
  auto asked = ask({4, 6, 5});
  passes_.wait_for_pass(1);
  EXPECT_EQ(asked->wait_for(seconds(0)), std::future_status::timeout);
  passes_.let_go(2);
  const EngineResult result = asked->get();
  EXPECT_EQ(result.kind, Kind::computed);
  ASSERT_EQ(result.results.size(), 3U);
  EXPECT_THAT(result.results[0].scores, testing::ElementsAre(4, 2));
  EXPECT_THAT(result.results[1].scores, testing::ElementsAre(6, 2));
  EXPECT_THAT(result.results[2].scores, testing::ElementsAre(5, 1));
}

TEST_F(BatchEngineTest, AFullQueueTakesNothingOfARequest) {
  auto first = ask({1});
  passes_.wait_for_pass(1);
  EXPECT_TRUE(ask({1, 1, 1, 1}));
  EXPECT_FALSE(ask({1, 1, 1}));
  EXPECT_EQ(engine_.waiting(), 4U);
  EXPECT_TRUE(ask({1, 1}));
  EXPECT_FALSE(engine_.reserve());
  EXPECT_GE(engine_.retry_after(), seconds(1));
}

TEST_F(BatchEngineTest, RoomIsKeptForWhatIsNotReadYet) {
  auto first = ask({1});
  passes_.wait_for_pass(1);
  std::optional<QueueRoom> room = engine_.reserve();
  EXPECT_FALSE(ask({1, 1, 1, 1, 1, 1}));
  EXPECT_TRUE(ask({1, 1, 1, 1, 1}));
  EXPECT_FALSE(engine_.reserve());
  EXPECT_EQ(engine_.waiting(), 6U) << "what is not read yet waits, too";
  room.reset();
  EXPECT_EQ(engine_.waiting(), 5U);
  EXPECT_TRUE(engine_.reserve());
  EXPECT_TRUE(ask({1}));
  EXPECT_FALSE(engine_.reserve());
}

TEST_F(BatchEngineTest, WhatIsNotReadYetCountsInTheTimeToComeBack) {
  ServeMeter meter;
  const auto slow = [](HeadPass, std::span<const TextSequence> sequences, std::span<const int>,
                       const GiveResult& give) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    for (std::size_t i = 0; i < sequences.size(); ++i) give(i, {});
  };
  BatchEngine engine(slow, {.max_waiting = 1000}, meter);
  std::promise<void> done;
  EngineRequest request{.sequences = {sequence_of(10)}, .arrived = std::chrono::steady_clock::now()};
  request.deadline = request.arrived + seconds(600);
  request.done = [&](EngineResult) { done.set_value(); };
  engine.submit(std::move(request), std::move(*engine.reserve()));
  done.get_future().get();
  EXPECT_EQ(engine.retry_after(), seconds(1)) << "nothing waits";
  std::vector<QueueRoom> rooms;
  for (int i = 0; i < 500; ++i) rooms.push_back(std::move(*engine.reserve()));
  EXPECT_GE(engine.retry_after(), seconds(50))
      << "of 500 texts of 10 tokens, of which a second has at most 100";
}

TEST_F(BatchEngineTest, ASequenceThatFailsFailsItsRequestAlone) {
  ServeMeter meter;
  std::promise<void> together;
  const auto odd_lengths_fail = [&, waits = together.get_future().share()](
                                    HeadPass, std::span<const TextSequence> sequences, std::span<const int>,
                                    const GiveResult& give) {
    waits.wait();
    for (std::size_t i = 0; i < sequences.size(); ++i)
      give(i, {.scores = {1}, .failed = sequences[i].length() % 2 == 1});
  };
  std::vector<std::promise<EngineResult>> told(4);
  BatchEngine engine(odd_lengths_fail, {.max_waiting = 20}, meter);
  const std::vector<std::vector<int>> asked{{2}, {4}, {4, 3, 6}, {8}};
  for (std::size_t i = 0; i < asked.size(); ++i) {
    EngineRequest request{.arrived = std::chrono::steady_clock::now()};
    request.deadline = request.arrived + seconds(600);
    for (const int length : asked[i]) request.sequences.push_back(sequence_of(length));
    request.done = [&told, i](EngineResult result) { told[i].set_value(std::move(result)); };
    engine.submit(std::move(request), std::move(*engine.reserve()));
  }
  together.set_value();
  EXPECT_EQ(told[0].get_future().get().kind, Kind::computed);
  EXPECT_EQ(told[1].get_future().get().kind, Kind::computed);
  EXPECT_EQ(told[2].get_future().get().kind, Kind::failed);
  EXPECT_EQ(told[3].get_future().get().kind, Kind::computed);
}

TEST_F(BatchEngineTest, ARequestMayHaveAFourthOfTheQueue) {
  ServeMeter meter;
  const auto nothing = [](HeadPass, std::span<const TextSequence>, std::span<const int>, const GiveResult&) {
  };
  EXPECT_EQ(BatchEngine(nothing, {.max_waiting = 512}, meter).most_of_request(), 128U);
  EXPECT_EQ(BatchEngine(nothing, {.max_waiting = 1}, meter).most_of_request(), 1U);
}

TEST_F(BatchEngineTest, WhatIsCancelledIsNotComputed) {
  auto first = ask({1});
  passes_.wait_for_pass(1);
  auto gone = ask({2, 2});
  const std::uint64_t number = *number_;
  auto other = ask({3});
  engine_.cancel(number);
  EXPECT_EQ(engine_.waiting(), 1U);
  engine_.cancel(number);
  passes_.let_go(2);
  EXPECT_THAT(other->get().results[0].scores, testing::ElementsAre(3, 1));
  EXPECT_THROW(gone->get(), std::future_error) << "it is told nothing";
}

TEST_F(BatchEngineTest, EachSequenceHasTheCandidatesOfItsRequest) {
  auto first = ask({1});
  passes_.wait_for_pass(1);
  top_ = 7;
  auto second = ask({2, 2});
  top_ = 3;
  auto third = ask({3});
  passes_.let_go(2);
  third->get();
  EXPECT_THAT(tops_, testing::ElementsAre(7, 7, 3));
}

TEST_F(BatchEngineTest, TheLateAreNotComputed) {
  auto first = ask({1});
  passes_.wait_for_pass(1);
  auto late = ask({2, 2}, std::chrono::milliseconds(0));
  auto patient = ask({3});
  passes_.let_go(2);
  EXPECT_EQ(late->get().kind, Kind::expired);
  EXPECT_THAT(patient->get().results[0].scores, testing::ElementsAre(3, 1));
}

TEST_F(BatchEngineTest, APassThatFailsFailsItsRequestsOnly) {
  passes_.fail_next();
  auto first = ask({1});
  passes_.wait_for_pass(1);
  auto second = ask({2});
  passes_.let_go(2);
  EXPECT_EQ(first->get().kind, Kind::failed);
  const EngineResult result = second->get();
  EXPECT_EQ(result.kind, Kind::computed);
  EXPECT_THAT(result.results[0].scores, testing::ElementsAre(2, 1));
}

TEST_F(BatchEngineTest, WhatIsComputedIsToldBeforeTheBatchEnds) {
  auto first = ask({1});
  passes_.wait_for_pass(1);
  auto slow = ask({2}), of_both = ask({3, 1}), quick = ask({1});
  passes_.give_early(2);
  passes_.let_go(1);
  EXPECT_THAT(quick->get().results[0].scores, testing::ElementsAre(1, 4));
  EXPECT_EQ(slow->wait_for(seconds(0)), std::future_status::timeout);
  EXPECT_EQ(of_both->wait_for(seconds(0)), std::future_status::timeout);
  EXPECT_EQ(meter_.figures().batch_sequences.count, 1U);
  passes_.let_go(1);
  EXPECT_THAT(slow->get().results[0].scores, testing::ElementsAre(2, 4));
  EXPECT_THAT(of_both->get().results[0].scores, testing::ElementsAre(3, 4));
  EXPECT_EQ(meter_.figures().batch_sequences.sum, 5);
}

TEST_F(BatchEngineTest, WhatAPassGaveBeforeItFailedIsGood) {
  auto first = ask({1});
  passes_.wait_for_pass(1);
  auto lost = ask({2}), good = ask({3});
  passes_.give_early(1);
  passes_.let_go(1);
  EXPECT_EQ(good->get().kind, Kind::computed);
  passes_.fail_next();
  passes_.let_go(1);
  EXPECT_EQ(lost->get().kind, Kind::failed);
  EXPECT_EQ(meter_.figures().batch_sequences.sum, 3);
}

TEST_F(BatchEngineTest, ItSaysWhetherItComputes) {
  EXPECT_FALSE(engine_.is_computing());
  auto asked = ask({1});
  passes_.wait_for_pass(1);
  EXPECT_TRUE(engine_.is_computing());
}

}  // namespace
}  // namespace podium
