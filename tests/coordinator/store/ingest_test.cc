// Streams: each byte has its effect once, whatever is sent twice, late, in pieces or with a hole before it.
#include <cmath>
#include <fstream>

#include "coordinator/store/log_files.h"
#include "tests/coordinator/store/store_fixture.h"

namespace podium {
namespace {

class Ingest : public testing::Test {
 protected:
  Ingest() : store_(home_.path(), at_once()) {
    start_job(store_);
    reader_ = store_.open_reader();
  }

  std::int64_t next_after(const std::string& body) {
    const auto answer = ingest_now(store_, body);
    EXPECT_TRUE(answer.ok()) << describe(answer.errors());
    return answer.ok() ? answer->positions.at(0).next : -1;
  }
  Series loss() { return reader_->series({1}, "train/loss", 1000); }
  std::string last_history() { return reader_->history({1}, 0, 1000).back().text; }

  TempFolder home_;
  Store store_;
  std::unique_ptr<Reader> reader_;
};

TEST_F(Ingest, WritesPointsAndAnswersWithTheNextOffset) {
  const std::string text = metrics_line(1, 5.5) + metrics_line(2, 5.25);
  const auto answer = ingest_now(store_, chunk(1, 0, text));
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->positions.at(0), (StreamPosition{{{{1}, 1}, 0}, StreamKind::events, std::ssize(text)}));
  ASSERT_EQ(answer->news.size(), 1u);
  EXPECT_EQ(answer->news[0].points.size(), 2u);
  ASSERT_EQ(loss().size(), 2u);
  EXPECT_EQ(loss()[1].value, 5.25);
  EXPECT_EQ(reader_->job({1})->latest.at("train/loss"), 5.25);
  EXPECT_EQ(reader_->job({1})->progress->step, 2);
}

TEST_F(Ingest, DropsWhatWasSentBefore) {
  const std::string one = metrics_line(1, 1), two = metrics_line(2, 2), three = metrics_line(3, 3);
  next_after(chunk(1, 0, one + two));
  const auto again = ingest_now(store_, chunk(1, 0, one + two));
  EXPECT_EQ(again->positions.at(0).next, std::ssize(one + two));
  EXPECT_TRUE(again->news.empty());
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
  EXPECT_EQ(last_history(),
            "rank 0: events.jsonl has a malformed line at byte 0, left out: {\"type\":\"metr?");
}

TEST_F(Ingest, CountsMalformedLinesInsteadOfTellingThemAll) {
  std::string text;
  for (int i = 0; i < 50; ++i) text += "nonsense\n";
  next_after(chunk(1, 0, text));
  EXPECT_EQ(last_history(), "rank 0: 47 more malformed lines in events.jsonl were left out");
}

TEST_F(Ingest, GivesUpALineThatNeverEnds) {
  const std::string endless(3 << 20, 'x');
  EXPECT_EQ(next_after(chunk(1, 0, endless)), std::ssize(endless));
}

TEST_F(Ingest, LetsALaterAttemptReplaceASteps) {
  next_after(chunk(1, 0, metrics_line(1, 1) + metrics_line(2, 2) + metrics_line(3, 3)));
  commit_now(store_, {failed_attempt(1, 1, 60), {}, {}, {}});
  commit_now(store_, {started_attempt(1, 2, 70), {}, {}, {}});
  next_after(chunk(2, 0, metrics_line(2, 20)));
  // The first attempt's tail comes late: it fills holes and replaces nothing.
  next_after(chunk(1, std::ssize(metrics_line(1, 1)) * 3, metrics_line(2, 7) + metrics_line(4, 4)));
  ASSERT_EQ(loss().size(), 4u);
  EXPECT_EQ(loss()[0].value, 1);
  EXPECT_EQ(loss()[1].value, 20);
  EXPECT_EQ(loss()[3].value, 4);
  EXPECT_EQ(reader_->job({1})->latest.at("train/loss"), 20);
}

TEST_F(Ingest, KeepsWhatIsNotANumber) {
  next_after(chunk(1, 0,
                   "{\"type\":\"metrics\",\"t\":1,\"step\":1,\"values\":{\"train/loss\":\"NaN\"}}\n"
                   "{\"type\":\"metrics\",\"t\":2,\"step\":2,\"values\":{\"train/loss\":\"-Infinity\"}}\n"));
  EXPECT_TRUE(std::isnan(loss().at(0).value));
  EXPECT_TRUE(std::isinf(loss().at(1).value));
}

TEST_F(Ingest, TakesStartsCheckpointsAndTargets) {
  const std::string text =
      "{\"type\":\"started\",\"t\":1700000011000,\"step\":0,\"steps\":100,\"parameters\":7,\"device\":"
      "\"cpu\"}\n"
      "{\"type\":\"checkpoint\",\"t\":1700000020000,\"step\":50,\"path\":\"step-50\",\"bytes\":1000,"
      "\"seconds\":0.1}\n"
      "{\"type\":\"target\",\"t\":1700000030000,\"step\":60,\"metric\":\"eval/mlm_loss\",\"value\":1.9}\n"
      "{\"type\":\"target\",\"t\":1700000040000,\"step\":70,\"metric\":\"eval/mlm_loss\",\"value\":1.8}\n"
      "{\"type\":\"note\",\"t\":1700000041000,\"level\":\"error\",\"message\":\"out of data\"}\n";
  const auto answer = ingest_now(store_, chunk(1, 0, text));
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->news.at(0).checkpoint, 50);
  EXPECT_TRUE(answer->news.at(0).target_reached);
  const JobView job = reader_->job({1}).value();
  EXPECT_EQ(job.progress->steps, 100);
  EXPECT_EQ(job.target->reached_step, 60) << "the first time counts";
  EXPECT_EQ(job.time_to_train_seconds, 20.0);
  EXPECT_EQ(reader_->attempts({1}).at(0).first_step, 0);
  EXPECT_EQ(last_history(), "rank 0: out of data");
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
  const auto answer = ingest_now(store_, "{\"job\":1");
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.errors().at(0).code, ErrorCode::invalid);
}

TEST_F(Ingest, LetsTheAgentForgetAttemptsNobodyKnows) {
  EXPECT_EQ(next_after(chunk(7, 100, "x\n")), 102);
  EXPECT_EQ(reader_->metrics({1}).size(), 0u);
}

TEST_F(Ingest, AnswersUnavailableWhenTheLogCannotBeWritten) {
  std::ofstream(home_.path() / "logs") << "a file where the folder should be";
  const std::string body = chunk(1, 0, metrics_line(1, 1)) + chunk(1, 0, "text", StreamKind::err);
  const auto answer = ingest_now(store_, body);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.errors().at(0).code, ErrorCode::unavailable);
  EXPECT_EQ(loss().size(), 0u) << "all of the piece, or nothing";
  std::filesystem::remove(home_.path() / "logs");
  EXPECT_TRUE(ingest_now(store_, body).ok());
  EXPECT_EQ(loss().size(), 1u);
}

}  // namespace
}  // namespace podium
