// Streams: each byte has its effect once, whatever is sent twice, late, in pieces or with a hole before it.
#include "tests/coordinator/store/ingest_fixture.h"

namespace podium {
namespace {

TEST_F(Ingest, TimesOfANodeWhoseClockIsOffAreCorrected) {
  const Time now = at_second(100'000);
  const auto hour = std::chrono::hours(1);
  const std::string text = metrics_line(1, 5.5);
  ASSERT_TRUE(ingest_now(*store_, chunk(1, 0, text), "node-1", {now, Duration{0}}).ok());
  const Time told = loss().at(0).time;
  ASSERT_TRUE(
      ingest_now(*store_, chunk(1, std::ssize(text), metrics_line(2, 5.5)), "node-1", {now, -hour}).ok());
  const Duration apart = loss().at(1).time - told;
  const Duration as_told = apart - hour;
  EXPECT_LT(std::chrono::abs(as_told), std::chrono::minutes(30)) << "a clock that is an hour behind";
  ASSERT_TRUE(
      ingest_now(*store_, chunk(1, 2 * std::ssize(text), metrics_line(3, 5.5)), "node-1", {now, -1000 * hour})
          .ok());
  EXPECT_EQ(loss().at(2).time, now) << "nothing happens in the time to come";
}

TEST_F(Ingest, WritesPointsAndAnswersWithTheNextOffset) {
  const std::string text = metrics_line(1, 5.5) + metrics_line(2, 5.25);
  const auto answer = ingest_now(*store_, chunk(1, 0, text));
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ((*answer)->positions.at(0),
            (StreamPosition{{{{1}, 1}, 0}, StreamKind::events, std::ssize(text)}));
  ASSERT_EQ((*answer)->news.size(), 1u);
  EXPECT_EQ((*answer)->news.at({1}).at("train/loss").size(), 2u);
  ASSERT_EQ(loss().size(), 2u);
  EXPECT_EQ(loss()[1].value, 5.25);
  EXPECT_EQ(reader_->job({1})->latest.at("train/loss"), 5.25);
  EXPECT_EQ(reader_->job({1})->progress->step, 2);
}

// What an agent read from a program's output, which carries where it read.
TEST_F(Ingest, TakesWhatWasReadFromTheOutput) {
  const std::string line =
      R"({"read":{"stdout":7},"step":2,"t":1700000000000,"type":"metrics","values":{"train/loss":4.0}})"
      "\n"
      R"({"read":{"stdout":7},"step":2,"steps":50,"t":1700000000000,"type":"started"})"
      "\n";
  EXPECT_EQ(next_after(chunk(1, 0, line, StreamKind::console)), std::ssize(line));
  EXPECT_EQ(next_after(chunk(1, 0, line, StreamKind::console)), std::ssize(line));
  EXPECT_EQ(next_after(chunk(1, 0, metrics_line(1, 5.0))), std::ssize(metrics_line(1, 5.0)));
  ASSERT_EQ(loss().size(), 2u);
  EXPECT_EQ(reader_->job({1})->progress->steps, 50);
}

TEST_F(Ingest, DropsWhatWasSentBefore) {
  const std::string one = metrics_line(1, 1), two = metrics_line(2, 2), three = metrics_line(3, 3);
  next_after(chunk(1, 0, one + two));
  const auto again = ingest_now(*store_, chunk(1, 0, one + two));
  EXPECT_EQ((*again)->positions.at(0).next, std::ssize(one + two));
  EXPECT_TRUE((*again)->news.empty());
  EXPECT_EQ(next_after(chunk(1, std::ssize(one), two + three)), std::ssize(one + two + three));
  EXPECT_EQ(loss().size(), 3u);
  EXPECT_EQ(reader_->metrics({1}).at(0).count, 3);
}

TEST_F(Ingest, AnswersAGapWithTheOffsetToGoBackTo) {
  const std::string one = metrics_line(1, 1);
  next_after(chunk(1, 0, one));
  EXPECT_EQ(next_after(chunk(1, 5000, metrics_line(9, 9))), std::ssize(one));
  EXPECT_EQ(next_after(chunk(1, INT64_MAX, "x")), std::ssize(one));
  EXPECT_EQ(loss().size(), 1u);
}

TEST_F(Ingest, ANodeCannotWriteIntoATaskOfAnother) {
  const std::string forged = metrics_line(1, 99), own = metrics_line(1, 1);
  const auto answer = ingest_now(*store_, chunk(1, 0, forged), "node-2");
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ((*answer)->positions.at(0).next, std::ssize(forged)) << "its agent may forget it";
  EXPECT_TRUE((*answer)->news.empty());
  EXPECT_TRUE(loss().empty());
  next_after(chunk(1, 0, own));
  ASSERT_EQ(loss().size(), 1u) << "and nothing of the task's own is missing";
  EXPECT_EQ(loss()[0].value, 1);
}

TEST_F(Ingest, LeavesALineWithoutItsEndForLater) {
  const std::string one = metrics_line(1, 1), two = metrics_line(2, 2);
  const std::string text = one + two;
  EXPECT_EQ(next_after(chunk(1, 0, text.substr(0, text.size() - 5))), std::ssize(one));
  EXPECT_EQ(next_after(chunk(1, std::ssize(one), two.substr(0, 3))), std::ssize(one));
  EXPECT_EQ(next_after(chunk(1, std::ssize(one), two)), std::ssize(text));
  EXPECT_EQ(loss().size(), 2u);
}

TEST_F(Ingest, NotesMalformedLinesAndGoesOn) {
  const std::string text = "{\"type\":\"metr\xff\n" + metrics_line(1, 1);
  EXPECT_EQ(next_after(chunk(1, 0, text)), std::ssize(text));
  EXPECT_EQ(loss().size(), 1u);
  EXPECT_EQ(
      last_history(),
      "rank 0: events.jsonl has a malformed line (it is no JSON) at byte 0, left out: {\"type\":\"metr?");
}

TEST_F(Ingest, SaysWhatIsWrongWithALine) {
  next_after(chunk(1, 0,
                   R"({"type":"metrics","time_ms":1,"step":1,"values":{}})"
                   "\n"));
  EXPECT_THAT(last_history(), testing::HasSubstr("a malformed line (key 't' not found) at byte 0"));
}

TEST_F(Ingest, CountsMalformedLinesInsteadOfTellingThemAll) {
  const std::size_t before = reader_->history({1}, 0, 1000).size();
  std::string text;
  for (int i = 0; i < 50; ++i) text += "nonsense\n";
  next_after(chunk(1, 0, text.substr(0, 9 * 20)));
  next_after(chunk(1, 0, text));
  EXPECT_EQ(reader_->history({1}, 0, 1000).size(), before + 2) << "the first and the tenth";
  EXPECT_EQ(last_history(),
            "rank 0: 10 lines of events.jsonl were left out so far, the last as a malformed line (it is no "
            "JSON) at "
            "byte 81");
}

std::string line_of(std::size_t size, std::int64_t step) {
  std::string line = metrics_line(step, 1);
  line.insert(1, size - line.size(), ' ');
  return line;
}

TEST_F(Ingest, TakesALineOfTheGreatestLengthWhole) {
  const std::string text = metrics_line(1, 1) + line_of(kLongestEventLine, 2) + metrics_line(3, 3);
  EXPECT_EQ(next_after(chunk(1, 0, text)), std::ssize(text));
  EXPECT_EQ(loss().size(), 3u);
}

TEST_F(Ingest, TakesALineWholeThatDoesNotFitTheRestOfAPiece) {
  const std::string most = line_of(kLongestEventLine - 500, 1);  // of what one transaction takes
  const std::string text = most + line_of(3000, 2) + metrics_line(3, 3);
  EXPECT_EQ(next_after(chunk(1, 0, text)), std::ssize(text));
  EXPECT_EQ(loss().size(), 3u);
  std::string body = chunk(1, std::ssize(text), line_of(kLongestEventLine - 2000, 4));
  body += chunk(1, std::ssize(text) + std::ssize(line_of(kLongestEventLine - 2000, 4)), line_of(3000, 5));
  ingest_now(*store_, body);
  EXPECT_EQ(loss().size(), 5u);
}

TEST_F(Ingest, ALineThatIsTooLongIsLeftOutAndBlocksNothing) {
  for (const std::size_t size : {kLongestEventLine + 1, std::size_t{700} << 10, std::size_t{3} << 20}) {
    const std::int64_t start = next_after(chunk(1, 0, metrics_line(1, 1)));
    const std::string text = line_of(size, 2) + metrics_line(3, 3);
    EXPECT_EQ(next_after(chunk(1, start, text)), start + std::ssize(text));
    EXPECT_EQ(loss().size(), 2u) << size;
    EXPECT_NE(last_history().find("too long a line"), std::string::npos) << last_history();
    restart();
  }
}

// As an agent sends it: in pieces without an end, each taken, while the task may still be writing.
TEST_F(Ingest, ALineThatIsTooLongIsLeftOutPieceByPiece) {
  const std::string text = line_of(3 * kLongestEventLine + 100, 1) + metrics_line(2, 2);
  std::int64_t at = 0;
  for (int i = 0; i < 3; ++i) {
    const std::string body = chunk(1, at, text.substr(static_cast<std::size_t>(at), kLongestEventLine));
    at += static_cast<std::int64_t>(kLongestEventLine);
    EXPECT_EQ(next_after(body), at);
    restart_keeping_the_disk();
  }
  EXPECT_EQ(next_after(chunk(1, at, text.substr(static_cast<std::size_t>(at)))), std::ssize(text));
  ASSERT_EQ(loss().size(), 1u);
  EXPECT_EQ(loss()[0].step, 2);
  EXPECT_NE(last_history().find("at byte 0, left out"), std::string::npos) << "told once: " << last_history();
}

TEST_F(Ingest, TakesTheLastLineOfAFileThatHasEnded) {
  const std::string one = metrics_line(1, 1);
  std::string two = metrics_line(2, 2), three = "{\"type\":\"metr";
  two.pop_back();
  EXPECT_EQ(next_after(chunk(1, 0, one + two)), std::ssize(one));
  EXPECT_EQ(next_after(final_chunk(1, std::ssize(one), two)), std::ssize(one + two));
  EXPECT_EQ(loss().size(), 2u);
  EXPECT_EQ(next_after(final_chunk(1, std::ssize(one + two), three)), std::ssize(one + two + three))
      << "a killed program's half line blocks nothing";
  EXPECT_NE(last_history().find("malformed"), std::string::npos);
}

TEST_F(Ingest, KeepsLogsAsFiles) {
  EXPECT_EQ(next_after(chunk(1, 0, "hello ", StreamKind::err)), 6);
  EXPECT_EQ(next_after(chunk(1, 3, "lo world\n", StreamKind::err)), 12);
  const TaskId task{{{1}, 1}, 0};
  EXPECT_EQ(reader_->log(task, StreamKind::err, 0, 100).text, "hello world\n");
  EXPECT_EQ(reader_->log(task, StreamKind::err, 6, 100).next, 12);
  EXPECT_EQ(reader_->log_tail(task, StreamKind::err, 6).text, "world\n");
  EXPECT_EQ(reader_->log(task, StreamKind::out, 0, 100).text, "");
}

TEST_F(Ingest, RefusesAMalformedBody) {
  const auto answer = ingest_now(*store_, "{\"job\":1");
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.errors().at(0).code, ErrorCode::invalid);
}

TEST_F(Ingest, LetsTheAgentForgetAttemptsNobodyKnows) {
  EXPECT_EQ(next_after(chunk(7, 100, "x\n")), 102);
  EXPECT_EQ(reader_->metrics({1}).size(), 0u);
}

TEST_F(Ingest, AnswersUnavailableWhenTheLogCannotBeWritten) {
  std::ofstream(home_->path() / "logs") << "a file where the folder should be";
  const std::string body = chunk(1, 0, metrics_line(1, 1)) + chunk(1, 0, "text", StreamKind::err);
  const auto answer = ingest_now(*store_, body);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.errors().at(0).code, ErrorCode::unavailable);
  EXPECT_EQ(loss().size(), 0u) << "all of the piece, or nothing";
  std::filesystem::remove(home_->path() / "logs");
  EXPECT_TRUE(ingest_now(*store_, body).ok());
  EXPECT_EQ(loss().size(), 1u);
}

}  // namespace
}  // namespace podium
