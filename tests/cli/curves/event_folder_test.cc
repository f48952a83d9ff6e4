// Folders of event files: which of them are runs, several files of one, restarts, and files that are broken
// anywhere: what comes before the place counts, and the place is told.
#include "cli/curves/event_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "cli/curves/frame.h"
#include "cli/curves/summary.h"
#include "cli/curves/wire.h"
#include "tests/temp_folder.h"

namespace podium::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string start_event(std::int64_t step) {
  WireWriter log, event;
  log.varint(1, 1);
  event.varint(2, static_cast<std::uint64_t>(step));
  event.bytes(7, log.text());
  return event.text();
}

std::string points_of(const std::vector<std::int64_t>& steps) {
  std::string text;
  for (const std::int64_t step : steps) text += framed(scalar_event("loss", {step, 1000 * step, 0.5}));
  return text;
}

std::vector<std::int64_t> steps_of(const EventStream& stream) {
  std::vector<std::int64_t> steps;
  stream.read([&](const std::string&, const CurvePoint& point) { steps.push_back(point.step); });
  return steps;
}

class Folders : public ::testing::Test {
 protected:
  fs::path write(const std::string& name, const std::string& bytes) {
    const fs::path path = folder_.path() / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  EventStream only() { return EventStream(event_folders(folder_.path()).at(0)); }

  TempFolder folder_;
};

TEST_F(Folders, EachFolderWithEventFilesIsARunWithItsFilesInOrder) {
  write("a/b/events.out.tfevents.2.h", points_of({2}));
  write("a/b/events.out.tfevents.1.h", points_of({1}));
  write("events.out.tfevents.1.h.v2", points_of({3}));
  write("c/notes.txt", "x");
  const auto folders = event_folders(folder_.path());
  ASSERT_EQ(folders.size(), 2u);
  EXPECT_EQ(folders[0].run, ".");
  EXPECT_EQ(folders[1].run, "a/b");
  EXPECT_THAT(steps_of(EventStream(folders[1])), ElementsAre(1, 2));
  EXPECT_THROW(event_folders(folder_.path() / "none"), std::system_error);
}

TEST_F(Folders, NameOfAFileHasItsTimeInFrontOfTheHost) {
  EXPECT_EQ(event_file_name(1700000000999, "node-1"), "events.out.tfevents.1700000000.node-1");
  EXPECT_EQ(event_file_name(5000, "h"), "events.out.tfevents.0000000005.h") << "so that names sort by time";
}

TEST_F(Folders, RestartTakesLaterStepsBack) {
  write("events.out.tfevents.1.h", points_of({1, 2, 3, 4}) + framed(start_event(3)) + points_of({3}));
  write("events.out.tfevents.2.h", framed(start_event(2)) + points_of({2, 3, 5}));
  const EventStream stream = only();
  EXPECT_THAT(steps_of(stream), ElementsAre(1, 2, 3, 5));
  EXPECT_THAT(stream.broken(), IsEmpty());
}

TEST_F(Folders, FileCutAnywhereKeepsWhatComesBefore) {
  const std::string whole = points_of({1, 2}), first = points_of({1});
  for (std::size_t size = first.size() + 1; size < whole.size(); ++size) {
    write("events.out.tfevents.1.h", whole.substr(0, size));
    const EventStream stream = only();
    EXPECT_THAT(steps_of(stream), ElementsAre(1)) << size;
    ASSERT_EQ(stream.broken().size(), 1u) << size;
    EXPECT_THAT(stream.broken()[0], HasSubstr("tfevents.1.h, byte " + std::to_string(first.size()) + ": "));
  }
}

TEST_F(Folders, ChangedByteIsNoticedAndTheNextFileIsRead) {
  const std::string whole = points_of({1, 2, 3});
  write("events.out.tfevents.2.h", points_of({4}));
  const std::size_t frame = whole.size() / 3;
  for (std::size_t at = frame; at < 2 * frame; ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    write("events.out.tfevents.1.h", changed);
    const EventStream stream = only();
    EXPECT_THAT(steps_of(stream), ElementsAre(1, 4)) << at;
    ASSERT_EQ(stream.broken().size(), 1u) << at;
    EXPECT_THAT(stream.broken()[0], HasSubstr("byte " + std::to_string(frame) + ": "));
  }
}

TEST_F(Folders, BrokenFilesAreDescribed) {
  const auto told = [&](const std::string& bytes) {
    write("events.out.tfevents.1.h", bytes);
    return only().broken().at(0);
  };
  EXPECT_THAT(told("short"), HasSubstr("byte 0: the head of a frame ends after 5 of 12 bytes"));
  std::string frame = framed(std::string(300, '\xff'));
  EXPECT_THAT(told(frame), HasSubstr("byte 0: a frame is no event"));
  EXPECT_THAT(told(points_of({1}) + frame), HasSubstr(": a frame is no event"));
  frame[0] = 'x';
  EXPECT_THAT(told(frame), HasSubstr("byte 0: the length of a frame has another checksum"));
  frame = points_of({1});
  EXPECT_THAT(told(frame.substr(0, frame.size() - 6)), HasSubstr("goes beyond the end of the file"));
  EXPECT_THAT(told(frame.substr(0, frame.size() - 4)),
              HasSubstr("the checksum of a frame ends after 0 of 4"));
  frame.back() = static_cast<char>(frame.back() ^ 1);
  EXPECT_THAT(told(frame), HasSubstr("byte 0: a frame has another checksum"));
  std::string head;
  append_little_endian(head, std::uint64_t{1} << 40, 8);
  const std::string huge = framed(head).substr(12, 8);
  EXPECT_THAT(told(huge + framed(huge).substr(framed(huge).size() - 4)),
              HasSubstr("256 MiB are read at most"));
}

TEST_F(Folders, EmptyFileIsWhole) {
  write("events.out.tfevents.1.h", "");
  EXPECT_THAT(only().broken(), IsEmpty());
  EXPECT_THAT(steps_of(only()), IsEmpty());
}

TEST_F(Folders, ParametersAndOtherTagsAreTold) {
  write("events.out.tfevents.1.h", framed(version_event(1)) +
                                       framed(hyperparameters_event("r", {{"lr", 0.5}}, 1)) +
                                       framed(text_event("notes", "x", 1)) + points_of({1}));
  const EventStream stream = only();
  EXPECT_THAT(stream.others(), ElementsAre("notes"));
  EXPECT_EQ(stream.parameters(), (HyperParameters{{"lr", 0.5}}));
}

TEST(CurveSummary, CountsAndHashesWhatItIsGiven) {
  CurveSummary summary, same, other;
  for (CurveSummary* each : {&summary, &same}) {
    each->add("a", {1, 20, 0.5});
    each->add("b", {1, 10, 0.5});
  }
  other.add("a", {1, 20, 0.5});
  other.add("b", {1, 10, 0.25});
  EXPECT_EQ(summary.points(), 2u);
  EXPECT_EQ(summary.first_ms(), 10);
  EXPECT_EQ(summary.last_ms(), 20);
  EXPECT_EQ(summary.metrics().size(), 2u);
  EXPECT_EQ(summary.hash(), same.hash());
  EXPECT_NE(summary.hash(), other.hash());
  EXPECT_EQ(summary.hash().size(), 32u);
}

}  // namespace
}  // namespace podium::cli
