// Which sequences are computed next, and when, by a made-up clock.
#include "worker/serve/batch_queue.h"

#include <gmock/gmock.h>

namespace podium {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::IsEmpty;

ServeTime at(int ms) { return ServeTime{} + milliseconds(1'000'000 + ms); }

// Sequences that arrive and must be computed at times in ms.
struct Asked {
  std::uint64_t number = 0;
  int tokens = 10;
  int arrived = 0;
  int deadline = 10'000;
  int pass = 0;
};

class BatchQueueTest : public testing::Test {
 protected:
  void add(const Asked& asked) {
    queue_.add({asked.number, asked.pass, asked.tokens, at(asked.arrived), at(asked.deadline)});
  }
  // Takes a batch of sequences that waited, so that the next one is not the first.
  void compute_before(std::size_t sequences, int end) {
    for (std::size_t i = 0; i < sequences; ++i) add({.number = 100 + i, .tokens = 1, .deadline = 1});
    ASSERT_EQ(queue_.take_batch().size(), sequences);
    queue_.batch_ended(at(end));
  }

  BatchQueue queue_{{.max_tokens = 100, .max_sequences = 4, .max_wait = milliseconds(5), .max_waiting = 6}};
};

TEST_F(BatchQueueTest, StartsTheFirstAtOnce) {
  EXPECT_EQ(queue_.next_start(), std::nullopt);
  add({.number = 1});
  EXPECT_LE(queue_.next_start(), at(0));
  EXPECT_THAT(queue_.take_batch(), ElementsAre(1));
  EXPECT_EQ(queue_.next_start(), std::nullopt);
}

TEST_F(BatchQueueTest, ABusyModelWaitsForItsBatchToFill) {
  compute_before(3, 0);
  add({.number = 1, .arrived = -2});
  EXPECT_EQ(queue_.next_start(), at(3)) << "5 ms after it arrived";
  add({.number = 2, .arrived = -4});
  EXPECT_EQ(queue_.next_start(), at(1)) << "the oldest counts";
  add({.number = 3, .arrived = 0});
  EXPECT_LE(queue_.next_start(), at(0)) << "as many as the batch before had";
}

TEST_F(BatchQueueTest, AnIdleModelStartsAtOnce) {
  compute_before(3, 0);
  add({.number = 1, .arrived = 3});
  EXPECT_EQ(queue_.next_start(), at(5)) << "5 ms after the last batch";
  queue_.take_batch();
  compute_before(3, 10);
  add({.number = 2, .arrived = 500});
  EXPECT_LE(queue_.next_start(), at(500));
}

TEST_F(BatchQueueTest, WaitsForHalfOfAShortTimeAtMost) {
  compute_before(3, 0);
  add({.number = 1, .arrived = 0, .deadline = 4});
  EXPECT_EQ(queue_.next_start(), at(2));
}

TEST_F(BatchQueueTest, AFullBatchStartsAtOnce) {
  compute_before(4, 0);
  add({.number = 1, .tokens = 60});
  add({.number = 2, .tokens = 40});
  EXPECT_EQ(queue_.next_start(), at(5)) << "it has exactly 100 tokens, and more may wait for the next";
  add({.number = 3, .tokens = 1});
  EXPECT_LE(queue_.next_start(), at(0)) << "one more token has no room";
  EXPECT_THAT(queue_.take_batch(), ElementsAre(1, 2));
  EXPECT_THAT(queue_.take_batch(), ElementsAre(3));
}

TEST_F(BatchQueueTest, HasAtMostSoManySequences) {
  compute_before(4, 0);
  for (std::uint64_t number = 1; number <= 4; ++number) add({.number = number, .tokens = 1});
  EXPECT_LE(queue_.next_start(), at(0));
  add({.number = 5, .tokens = 1});
  EXPECT_THAT(queue_.take_batch(), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(queue_.take_batch(), ElementsAre(5));
}

TEST_F(BatchQueueTest, WhatIsDroppedWaitsNoLonger) {
  for (std::uint64_t number = 1; number <= 4; ++number) add({.number = number, .tokens = 10});
  queue_.drop({1, 3});
  EXPECT_EQ(queue_.size(), 2U);
  EXPECT_EQ(queue_.tokens(), 20);
  EXPECT_THAT(queue_.take_batch(), ElementsAre(2, 4));
}

TEST_F(BatchQueueTest, TheMostUrgentGoFirst) {
  add({.number = 1, .deadline = 300});
  add({.number = 2, .deadline = 100});
  add({.number = 3, .deadline = 200});
  add({.number = 4, .deadline = 100});
  add({.number = 5, .deadline = 50});
  EXPECT_THAT(queue_.take_batch(), ElementsAre(5, 2, 4, 3)) << "of equally urgent ones the older first";
}

TEST_F(BatchQueueTest, ShorterOnesFillWhatALongOneLeaves) {
  add({.number = 1, .tokens = 70, .deadline = 100});
  add({.number = 2, .tokens = 40, .deadline = 200});
  add({.number = 3, .tokens = 30, .deadline = 300});
  EXPECT_THAT(queue_.take_batch(), ElementsAre(1, 3));
  EXPECT_EQ(queue_.tokens(), 40);
}

TEST_F(BatchQueueTest, ASequenceBeyondTheLimitIsABatchOfItsOwn) {
  add({.number = 1, .tokens = 500, .deadline = 100});
  add({.number = 2, .tokens = 1, .deadline = 200});
  EXPECT_THAT(queue_.take_batch(), ElementsAre(1));
}

TEST_F(BatchQueueTest, PassesAreNotMixed) {
  compute_before(3, 0);
  add({.number = 1, .pass = 1});
  add({.number = 2, .pass = 0});
  add({.number = 3, .pass = 1});
  EXPECT_EQ(queue_.next_start(), at(5)) << "two of a pass are fewer than three";
  EXPECT_THAT(queue_.take_batch(), ElementsAre(1, 3));
  EXPECT_THAT(queue_.take_batch(), ElementsAre(2));
}

TEST_F(BatchQueueTest, TheLateLeaveWithoutBeingComputed) {
  add({.number = 1, .tokens = 20, .deadline = 100});
  add({.number = 2, .tokens = 30, .deadline = 101});
  EXPECT_THAT(queue_.take_expired(at(99)), IsEmpty());
  EXPECT_THAT(queue_.take_expired(at(100)), ElementsAre(1));
  EXPECT_EQ(queue_.size(), 1U);
  EXPECT_EQ(queue_.tokens(), 30);
  EXPECT_THAT(queue_.take_batch(), ElementsAre(2));
}

TEST_F(BatchQueueTest, HasRoomForSoMany) {
  for (std::uint64_t number = 1; number <= 4; ++number) add({.number = number});
  EXPECT_TRUE(queue_.has_room(2));
  EXPECT_FALSE(queue_.has_room(3));
}

}  // namespace
}  // namespace podium
