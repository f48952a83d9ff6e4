// The ledger of a job: every device-second in one bucket, whatever became of it.
#include "coordinator/tracking/ledger.h"

#include <gtest/gtest.h>

#include <cmath>

namespace podium {
namespace {

using enum LedgerKind;

Time at(std::int64_t seconds) { return from_millis(1'700'000'000'000 + 1000 * seconds); }

// "waiting:queue 0-10 x4; stepping 30-40 x4 #1 [0..20]"
std::string text_of(const std::vector<LedgerPiece>& pieces) {
  std::string text;
  const auto second = [](Time time) { return std::to_string((time - at(0)).count() / 1000); };
  for (const LedgerPiece& piece : pieces) {
    text += (text.empty() ? "" : "; ") + std::string(to_string(piece.kind));
    if (!piece.detail.empty()) text += ":" + piece.detail;
    text += " " + second(piece.from) + "-" + second(piece.to) + " x" + std::to_string(piece.devices);
    if (piece.attempt > 0) text += " #" + std::to_string(piece.attempt);
    if (piece.first_step) text += " [" + std::to_string(*piece.first_step) + "..";
    if (piece.first_step) text += (piece.last_step ? std::to_string(*piece.last_step) : "?") + "]";
    if (piece.merged > 1) text += " of " + std::to_string(piece.merged);
  }
  return text;
}

JobMark waits(std::int64_t from, std::string why) {
  return {at(from), JobMarkKind::waiting, 0, 0, std::move(why)};
}
JobMark launches(std::int64_t from, int attempt, int devices) {
  return {at(from), JobMarkKind::launching, attempt, devices};
}
JobMark started(std::int64_t from) { return {at(from), JobMarkKind::started}; }
JobMark stops(std::int64_t from, std::string why) {
  return {at(from), JobMarkKind::stopping, 0, 0, std::move(why)};
}
JobMark ended(std::int64_t from) { return {at(from), JobMarkKind::ended}; }

struct Case {
  const char* name;
  LedgerRows rows;
  std::int64_t now;
  const char* pieces;
};

class Ledgers : public testing::TestWithParam<Case> {};

TEST_P(Ledgers, HaveThesePieces) {
  const Case& the = GetParam();
  EXPECT_EQ(text_of(make_ledger(the.rows, at(the.now))), the.pieces);
}

const std::vector<JobMark> kOneRun{waits(0, "devices"), launches(10, 1, 4), started(12), ended(100)};

const Case kCases[] = {
    {"waits_for_one_thing_after_another",
     {false, 2, {waits(0, "follows"), waits(5, "queue"), waits(6, "queue"), waits(9, "devices")}, {}},
     20,
     "waiting:follows 0-5 x2; waiting:queue 5-9 x2; waiting:devices 9-20 x2"},
    {"a_training_tells_its_phases",
     {false,
      4,
      kOneRun,
      {{1, at(11), rendezvous, {}},
       {1, at(20), loading, {}},
       {1, at(30), stepping, 0},
       {1, at(50), evaluating, 20},
       {1, at(55), checkpointing, 20},
       {1, at(56), stepping, 20},
       {1, at(90), stopping, 40}}},
     1000,
     "waiting:devices 0-10 x4; launching 10-11 x4 #1; rendezvous 11-20 x4 #1; loading 20-30 x4 #1; "
     "stepping 30-50 x4 #1 [0..20]; evaluating 50-55 x4 #1 [20..20]; checkpointing 55-56 x4 #1 [20..20]; "
     "stepping 56-90 x4 #1 [20..40]; stopping 90-100 x4 #1 [40..?]"},
    {"a_program_that_tells_nothing_runs",
     {true, 4, kOneRun, {}},
     1000,
     "waiting:devices 0-10 x4; launching 10-12 x4 #1; running 12-100 x4 #1"},
    {"a_program_may_tell_phases",
     {true, 4, kOneRun, {{1, at(50), stepping, {}}}},
     1000,
     "waiting:devices 0-10 x4; launching 10-12 x4 #1; running 12-50 x4 #1; stepping 50-100 x4 #1"},
    {"a_training_that_never_told_anything_is_unknown",
     {false, 4, kOneRun, {}},
     1000,
     "waiting:devices 0-10 x4; launching 10-12 x4 #1; unknown 12-100 x4 #1"},
    {"while_it_lives_it_may_yet_tell",
     {false, 4, {waits(0, "devices"), launches(10, 1, 4), started(12)}, {}},
     30,
     "waiting:devices 0-10 x4; launching 10-12 x4 #1; rendezvous 12-30 x4 #1"},
    {"a_crash_loses_what_the_next_attempt_repeats",
     {false,
      1,
      {waits(0, "queue"), launches(0, 1, 1), started(0), stops(60, "task_failed"), waits(61, "back_off"),
       launches(70, 2, 1), started(70), ended(100)},
      {{1, at(0), stepping, 0},
       {1, at(20), checkpointing, 20},
       {1, at(21), stepping, 20},
       {2, at(75), stepping, 20},
       {2, at(100), stopping, 60}}},
     1000,
     "stepping 0-20 x1 #1 [0..20]; checkpointing 20-21 x1 #1 [20..20]; lost 21-60 x1 #1 [20..?]; "
     "stopping:task_failed 60-61 x1 #1; backing_off 61-70 x1; rendezvous 70-75 x1 #2; "
     "stepping 75-100 x1 #2 [20..60]"},
    {"steps_are_even_between_marks",
     {false,
      1,
      {waits(0, "queue"), launches(0, 1, 1), started(0), stops(60, "node_lost"), waits(60, "queue"),
       launches(60, 2, 1), started(60)},
      {{1, at(0), stepping, 100},
       {1, at(40), evaluating, 140},
       {1, at(45), stepping, 140},
       {2, at(60), stepping, 110}}},
     80,
     "stepping 0-10 x1 #1 [100..110]; lost 10-40 x1 #1 [110..140]; evaluating 40-45 x1 #1 [140..140]; "
     "lost 45-60 x1 #1 [140..?]; stepping 60-80 x1 #2 [110..?]"},
    {"the_farthest_step_back_counts_for_all_attempts_before",
     {false,
      1,
      {waits(0, "queue"), launches(0, 1, 1), started(0), waits(10, "queue"), launches(10, 2, 1), started(10),
       waits(20, "queue"), launches(20, 3, 1), started(20)},
      {{1, at(0), stepping, 0}, {2, at(10), stepping, 50}, {3, at(20), stepping, 0}}},
     30,
     "lost 0-10 x1 #1 [0..?]; lost 10-20 x1 #2 [50..?]; stepping 20-30 x1 #3 [0..?]"},
    {"a_preemption_that_saved_loses_nothing",
     {false,
      2,
      {waits(0, "queue"), launches(0, 1, 2), started(0), stops(30, "preempted"), waits(40, "queue"),
       launches(50, 2, 2), started(50)},
      {{1, at(0), stepping, 0},
       {1, at(31), checkpointing, 31},
       {1, at(39), stopping, 31},
       {2, at(52), stepping, 31}}},
     60,
     "stepping 0-30 x2 #1 [0..31]; stopping:preempted 30-40 x2 #1; waiting:queue 40-50 x2; "
     "rendezvous 50-52 x2 #2; stepping 52-60 x2 #2 [31..?]"},
    {"an_elastic_job_has_the_devices_of_its_attempt",
     {false,
      2,
      {waits(0, "queue"), launches(0, 1, 2), started(0), stops(30, "resized"), waits(31, "queue"),
       launches(31, 2, 8), started(31), ended(40)},
      {{1, at(0), stepping, 0},
       {1, at(30), stopping, 30},
       {2, at(31), stepping, 30},
       {2, at(40), stopping, 60}}},
     1000,
     "stepping 0-30 x2 #1 [0..30]; stopping:resized 30-31 x2 #1; stepping 31-40 x8 #2 [30..60]"},
    {"clocks_that_step_back_count_nothing",
     {false,
      1,
      {waits(0, "queue"), launches(50, 1, 1), started(40), ended(100)},
      {{1, at(30), rendezvous, {}},
       {1, at(70), stepping, 0},
       {1, at(60), evaluating, 5},
       {1, at(500), stepping, 5}}},
     1000,
     "waiting:queue 0-50 x1; rendezvous 50-70 x1 #1; evaluating 70-100 x1 #1 [5..5]"},
    {"a_requeued_job_is_nowhere_between",
     {false, 1, {waits(0, "queue"), launches(5, 1, 1), ended(10), waits(90, "queue")}, {}},
     100,
     "waiting:queue 0-5 x1; launching 5-10 x1 #1; waiting:queue 90-100 x1"},
    {"now_may_lie_before_the_last_mark", {false, 1, {waits(50, "queue")}, {}}, 20, ""},
};

INSTANTIATE_TEST_SUITE_P(All, Ledgers, testing::ValuesIn(kCases),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST(Ledger, TotalsAreOfAllPiecesAndTellTheLongest) {
  const std::vector<LedgerPiece> pieces{{at(0), at(10), waiting, "queue", 0, 2},
                                        {at(10), at(15), waiting, "devices", 0, 2},
                                        {at(15), at(45), stepping, "", 1, 2},
                                        {at(45), at(50), evaluating, "", 1, 2},
                                        {at(50), at(90), stepping, "", 1, 2}};
  const std::vector<LedgerTotal> totals = totals_of(pieces);
  ASSERT_EQ(totals.size(), 4u);
  EXPECT_EQ(totals[0].detail, "devices");
  EXPECT_EQ(totals[2], (LedgerTotal{stepping, "", 2, std::chrono::seconds(70), 140'000,
                                    std::chrono::seconds(40), at(50)}));
  EXPECT_EQ(held_ms(sums_of(pieces)), 150'000);
  EXPECT_DOUBLE_EQ(*goodput(sums_of(pieces)), 140.0 / 150);
}

TEST(Ledger, NobodyKnowsTheGoodputOfWhatTellsNothing) {
  EXPECT_EQ(goodput({}), std::nullopt);
  EXPECT_EQ(goodput({{{waiting, "queue"}, 10}, {{running, ""}, 10}, {{unknown, ""}, 10}}), std::nullopt);
  EXPECT_EQ(goodput({{{waiting, "queue"}, 10}, {{running, ""}, 10}, {{launching, ""}, 10}}), std::nullopt)
      << "a program that tells no steps";
  EXPECT_DOUBLE_EQ(*goodput({{{waiting, "queue"}, 10}, {{launching, ""}, 10}}), 0);
}

TEST(Ledger, DaysDivideWhatLiesOverMidnight) {
  const Time midnight = from_millis(20'000 * kLedgerDay.count());
  const std::vector<LedgerPiece> pieces{
      {midnight - Duration(7), midnight + kLedgerDay + Duration(5), stepping, "", 3, 8}};
  const std::map<LedgerCell, Duration> days = sums_by_day(pieces);
  EXPECT_EQ(days, (std::map<LedgerCell, Duration>{{{3, 19'999, stepping, "", 8}, Duration(7)},
                                                  {{3, 20'000, stepping, "", 8}, kLedgerDay},
                                                  {{3, 20'001, stepping, "", 8}, Duration(5)}}));
}

TEST(Ledger, ShortPiecesBecomeOneAndNoTimeIsLost) {
  std::vector<LedgerPiece> pieces{{at(0), at(5000), waiting, "queue", 0, 1}};
  for (int i = 0; i < 1000; ++i) {
    const Time begin = at(5000 + 10 * i);
    pieces.push_back({begin, begin + std::chrono::seconds(8), stepping, "", 1, 1, i, i + 1});
    pieces.push_back({begin + std::chrono::seconds(8), begin + std::chrono::seconds(10), evaluating, "", 1, 1,
                      i + 1, i + 1});
  }
  const std::vector<LedgerPiece> few = merge_short(pieces, 300);
  EXPECT_LE(few.size(), 300u);
  EXPECT_EQ(few.front(), pieces.front());
  int all = 0;
  Time end = at(0);
  for (const LedgerPiece& piece : few) {
    EXPECT_EQ(piece.from, end) << "without a gap";
    end = piece.to;
    all += piece.merged;
  }
  EXPECT_EQ(end, pieces.back().to);
  EXPECT_EQ(all, std::ssize(pieces));
  EXPECT_EQ(few[1].kind, stepping) << "the longest of them";
  EXPECT_EQ(few[1].first_step, 0);
  EXPECT_EQ(merge_short(pieces, 3000), pieces);
}

}  // namespace
}  // namespace podium
