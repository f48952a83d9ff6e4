#include "worker/train/event_log.h"

#include <gmock/gmock.h>

#include "tests/temp_folder.h"
#include "worker/data/failure.h"

namespace podium {
namespace {

class FixedClock final : public Clock {
 public:
  Time now() const override { return from_millis(1234); }
};

TEST(EventLog, AppendsOneLineAnEvent) {
  const TempFolder folder;
  const FixedClock clock;
  const auto path = folder.path() / "events.jsonl";
  EventLog(path, clock).note("info", "first");
  EventLog(path, clock).write(FinishedEvent{7, "succeeded"});
  EXPECT_EQ(read_file(path),
            "{\"level\":\"info\",\"message\":\"first\",\"t\":1234,\"type\":\"note\"}\n"
            "{\"status\":\"succeeded\",\"step\":7,\"t\":1234,\"type\":\"finished\"}\n");
}

// A file name that is no UTF-8 ended the job with 1, without a word.
TEST(EventLog, WhatIsNoUtf8IsToldAsFarAsItIs) {
  const TempFolder folder;
  const FixedClock clock;
  const auto path = folder.path() / "events.jsonl";
  EventLog(path, clock).note("error", "cannot read caf\xe9.txt");
  const auto event = worker_event_from_json(nlohmann::json::parse(read_file(path)));
  EXPECT_EQ(std::get<NoteEvent>(event.body).message, "cannot read caf\xef\xbf\xbd.txt");
}

TEST(EventLog, AFailedWriteNamesTheFile) {
  const FixedClock clock;
  EventLog full("/dev/full", clock);
  try {
    full.note("info", "x");
    FAIL() << "written";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.exit, WorkerExit::disk_full);
    EXPECT_THAT(failure.what(), testing::HasSubstr("/dev/full"));
  }
  EXPECT_THROW(EventLog("/nonexistent/events.jsonl", clock), Failure);
}

}  // namespace
}  // namespace podium
