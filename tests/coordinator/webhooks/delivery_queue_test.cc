#include "coordinator/webhooks/delivery_queue.h"

#include <gtest/gtest.h>

#include <random>

namespace podium {
namespace {

constexpr Time kNow{Duration(1'000'000)};
constexpr Time kLater = kNow + kGiveUpAfter;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Ids = std::vector<std::int64_t>;

// All that may be sent beside each other.
Ids all_next(DeliveryQueue& queue, Time now) {
  Ids ids;
  while (const auto id = queue.next(now)) ids.push_back(*id);
  return ids;
}

TEST(DeliveryQueue, KeepsTheOrderOfASubjectAndSendsOthersBeside) {
  DeliveryQueue queue;
  for (const auto& [id, subject] :
       {std::pair(1, "a"), std::pair(2, "a"), std::pair(3, "b"), std::pair(4, "a")})
    queue.add(id, subject, kLater);
  EXPECT_EQ(queue.wake_at().value() <= kNow, true);
  EXPECT_EQ(all_next(queue, kNow), (Ids{1, 3}));
  queue.sent(1);
  EXPECT_EQ(all_next(queue, kNow), Ids{2});
  queue.sent(3);
  queue.sent(2);
  EXPECT_EQ(all_next(queue, kNow), Ids{4});
  EXPECT_EQ(queue.size(), 1u);
  queue.sent(4);
  EXPECT_EQ(queue.size(), 0u);
  EXPECT_EQ(queue.wake_at(), std::nullopt);
}

TEST(DeliveryQueue, WaitsTwiceAsLongAfterEachFailure) {
  DeliveryQueue queue;
  queue.add(1, "a", kLater);
  Time now = kNow;
  for (const Duration wait : {seconds(1), seconds(2), seconds(4), seconds(8)}) {
    ASSERT_EQ(queue.next(now), 1);
    queue.failed(1, DeliveryFailure::down, now, 0);  // half of the wait
    EXPECT_EQ(queue.wake_at(), now + wait / 2);
    EXPECT_EQ(queue.next(now + wait / 2 - milliseconds(1)), std::nullopt);
    now += wait / 2;
  }
  for (int i = 0; i < 20; ++i) {
    now = queue.wake_at().value();
    ASSERT_EQ(queue.next(now), 1);
    queue.failed(1, DeliveryFailure::down, now, 0.5);
  }
  EXPECT_EQ(queue.wake_at(), now + kDeliveryRetry.longest * 3 / 4);
  EXPECT_EQ(queue.failures(), 24);
}

TEST(DeliveryQueue, TriesOneAtATimeWhileAllFailsAndAllAgainAfterASuccess) {
  DeliveryQueue queue;
  for (int id = 1; id <= 4; ++id) queue.add(id, std::to_string(id), kLater);
  ASSERT_EQ(queue.next(kNow), 1);
  queue.failed(1, DeliveryFailure::down, kNow, 0);
  EXPECT_EQ(all_next(queue, kNow), Ids{}) << "the webhook pauses";
  const Time again = kNow + milliseconds(500);
  EXPECT_EQ(queue.wake_at(), again);
  EXPECT_EQ(all_next(queue, again), Ids{2}) << "which has not failed, and one alone";
  EXPECT_EQ(queue.wake_at(), kLater) << "the end of the attempt decides";
  queue.sent(2);
  EXPECT_EQ(queue.failures(), 0);
  EXPECT_EQ(all_next(queue, again), (Ids{1, 3, 4})) << "the retry first, for the receiver is well";
}

TEST(DeliveryQueue, AttemptsThatFailTogetherAreOneFailure) {
  DeliveryQueue queue;
  for (int id = 1; id <= 4; ++id) queue.add(id, std::to_string(id), kLater);
  ASSERT_EQ(all_next(queue, kNow).size(), 4u);
  for (int id = 1; id <= 4; ++id) queue.failed(id, DeliveryFailure::down, kNow, 0);
  EXPECT_EQ(queue.failures(), 1);
  EXPECT_EQ(queue.wake_at(), kNow + milliseconds(500));
}

TEST(DeliveryQueue, ANoticeThatIsRefusedHoldsUpItsSubjectAlone) {
  DeliveryQueue queue;
  std::int64_t id = 0;
  for (int i = 0; i < 50; ++i) {
    queue.add(++id, "bad", kLater);
    queue.add(++id, "good " + std::to_string(i), kLater);
  }
  int sent = 0, failed = 0;
  const Time end = kNow + seconds(60);
  for (Time now = kNow; now < end && sent < 50; now = std::max(now, queue.wake_at().value()))
    while (const auto next = queue.next(now)) {
      const bool good = *next % 2 == 0;
      ASSERT_TRUE(good || *next == 1) << "no later one of the subject";
      ++(good ? sent : failed);
      good ? queue.sent(*next) : queue.failed(*next, DeliveryFailure::refused, now, 0.9);
    }
  EXPECT_EQ(sent, 50);
  EXPECT_LE(failed, 5);
}

TEST(DeliveryQueue, ANoticeThatIsRefusedForEverDelaysNoOther) {
  DeliveryQueue queue;
  queue.add(1, "bad", kLater);
  Time now = kNow;
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(queue.next(now), 1);
    queue.failed(1, DeliveryFailure::refused, now, 0.9);
    now = queue.wake_at().value();
  }
  ASSERT_EQ(queue.next(now), 1);
  queue.failed(1, DeliveryFailure::refused, now, 0.9);
  queue.add(2, "good", kLater);
  EXPECT_EQ(queue.next(now), 2) << "although nothing has succeeded for minutes";
  EXPECT_EQ(queue.failures(), 1);
}

TEST(DeliveryQueue, AReceiverThatRefusesEveryNoticeIsNotStormed) {
  DeliveryQueue queue;
  for (int id = 1; id <= 100; ++id) queue.add(id, std::to_string(id), kLater);
  Time now = kNow;
  for (int id = 1; id <= 12; ++id) {
    ASSERT_EQ(queue.next(now), id);
    queue.failed(id, DeliveryFailure::refused, now, 0);
    EXPECT_EQ(queue.failures(), id);
    now = queue.wake_at().value();
  }
  EXPECT_GT(now, kNow + std::chrono::minutes(5));
}

TEST(DeliveryQueue, GivesUpWhatIsTooOldButNotWhatIsBeingSent) {
  DeliveryQueue queue;
  queue.add(1, "a", kNow + seconds(10));
  queue.add(2, "a", kNow + seconds(20));
  queue.add(3, "b", kNow + seconds(20));
  queue.add(4, "b", kNow + seconds(30));
  ASSERT_EQ(queue.next(kNow), 1);
  EXPECT_EQ(queue.expire(kNow + seconds(19)), Ids{}) << "the first is under way";
  ASSERT_EQ(queue.next(kNow), 3);
  queue.failed(3, DeliveryFailure::down, kNow, 0);
  queue.failed(1, DeliveryFailure::down, kNow, 0);
  EXPECT_EQ(queue.expire(kNow + seconds(20)), (Ids{1, 2, 3}));
  EXPECT_EQ(queue.size(), 1u);
  EXPECT_EQ(all_next(queue, kNow + seconds(25)), Ids{4}) << "it has not failed itself";
}

TEST(DeliveryQueue, WakesForTheOldest) {
  DeliveryQueue queue;
  queue.add(1, "a", kNow + milliseconds(100));
  ASSERT_EQ(queue.next(kNow), 1);
  EXPECT_EQ(queue.wake_at(), std::nullopt);
  queue.failed(1, DeliveryFailure::down, kNow, 0.9);
  EXPECT_EQ(queue.wake_at(), kNow + milliseconds(100));
}

TEST(DeliveryQueue, ForgetsWhatTheStoreHasDropped) {
  DeliveryQueue queue;
  for (int id = 1; id <= 6; ++id) queue.add(id, id % 2 == 0 ? "even" : "odd", kLater);
  ASSERT_EQ(queue.next(kNow), 1);
  queue.drop_before(5);
  EXPECT_EQ(queue.size(), 3u) << "one is under way";
  EXPECT_EQ(queue.next(kNow), 6);
  queue.sent(1);
  EXPECT_EQ(queue.next(kNow), 5);
  queue.vanished(5);
  queue.failed(6, DeliveryFailure::down, kNow, 0);
  EXPECT_EQ(queue.size(), 1u);
  EXPECT_EQ(queue.failures(), 1);
  queue.drop_before(7);
  EXPECT_EQ(queue.size(), 0u);
  EXPECT_EQ(queue.wake_at(), std::nullopt);
}

TEST(DeliveryQueue, ARetryEndsAllWaits) {
  DeliveryQueue queue;
  queue.add(1, "a", kLater);
  queue.add(2, "b", kLater);
  for (const int id : {1, 2}) {
    ASSERT_EQ(queue.next(kNow + seconds(id)), id);
    queue.failed(id, DeliveryFailure::down, kNow + seconds(id), 0.9);
  }
  ASSERT_EQ(queue.next(kNow + seconds(2)), std::nullopt);
  queue.retry();
  EXPECT_LE(queue.wake_at(), kNow);
  ASSERT_EQ(queue.next(kNow + seconds(2)), 1);
  EXPECT_EQ(queue.next(kNow + seconds(2)), std::nullopt) << "one at a time, as long as none has succeeded";
  queue.sent(1);
  EXPECT_EQ(queue.next(kNow + seconds(2)), 2);
}

TEST(DeliveryQueue, WhatVanishesIsNoSuccess) {
  DeliveryQueue queue;
  queue.add(1, "a", kLater);
  queue.add(2, "b", kLater);
  ASSERT_EQ(queue.next(kNow), 1);
  queue.failed(1, DeliveryFailure::down, kNow, 0);
  ASSERT_EQ(queue.next(kNow + seconds(1)), 2);
  queue.vanished(2);
  EXPECT_EQ(queue.failures(), 1);
}

// Whatever happens, notices of a subject are delivered in their order, each once, and all of them in the end.
TEST(DeliveryQueue, AnyHistoryKeepsTheOrder) {
  for (unsigned seed = 1; seed <= 50; ++seed) {
    std::mt19937 random(seed);
    const auto one_in = [&](unsigned n) { return random() % n == 0; };
    DeliveryQueue queue;
    std::map<std::string, Ids> added, got;
    std::set<std::int64_t> under_way;
    std::map<std::int64_t, std::string> subject_of;
    Time now = kNow;
    std::int64_t id = 0;
    const auto finish = [&](std::int64_t which, bool ok) {
      under_way.erase(which);
      if (!ok) return queue.failed(which, DeliveryFailure::down, now, 0.5);
      queue.sent(which);
      got[subject_of[which]].push_back(which);
    };
    for (int turn = 0; turn < 400; ++turn) {
      now += milliseconds(random() % 300);
      if (one_in(2)) {
        const std::string subject(1, static_cast<char>('a' + random() % 5));
        queue.add(++id, subject, kLater + kGiveUpAfter);
        added[subject].push_back(id);
        subject_of[id] = subject;
      }
      if (under_way.size() < 4)
        if (const auto next = queue.next(now)) under_way.insert(*next);
      if (!under_way.empty() && one_in(2)) finish(*under_way.begin(), !one_in(3));
    }
    for (int turns = 0; queue.size() > 0 && turns < 10'000; ++turns) {
      while (!under_way.empty()) finish(*under_way.begin(), true);
      now = std::max(now, queue.wake_at().value_or(now));
      while (const auto next = queue.next(now)) under_way.insert(*next);
    }
    EXPECT_EQ(got, added) << "seed " << seed;
  }
}

}  // namespace
}  // namespace podium
