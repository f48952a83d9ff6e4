#include "worker/train/read_together.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>

#include "tests/temp_folder.h"
#include "tests/worker/comm/world.h"
#include "worker/comm/single_communicator.h"
#include "worker/input/bad_data.h"
#include "worker/train/leave_process.h"

namespace podium {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr ReadingPace kPace{.meeting = 20ms, .first_note = 0ms, .between_notes = 0ms};

TaskSource source_of(int vocabulary) {
  TaskSource source;
  source.vocabulary = vocabulary;
  return source;
}

// Until somebody cancels.
TaskSource read_for_ever(Reading& reading) {
  for (;; std::this_thread::sleep_for(1ms)) reading.advance(0);
}

class ReadTogether : public testing::Test {
 protected:
  // Ranks of a world in which no collective may take longer than a second.
  void run_ranks(int size, const std::function<void(Communicator&)>& run) const {
    const int port = free_port();
    std::vector<std::jthread> ranks;
    for (int rank = 0; rank < size; ++rank)
      ranks.emplace_back([&, rank] {
        GlooOptions options = world_options(rank, size, port);
        options.operation_timeout = 1s;
        GlooCommunicator world(options);
        run(world);
      });
  }

  EventLog events_of(int rank) const { return {events_path(rank), clock_}; }
  std::filesystem::path events_path(int rank) const { return folder_.path() / std::to_string(rank); }
  std::vector<std::string> notes(int rank) const {
    std::vector<std::string> found;
    std::ifstream lines(events_path(rank));
    for (std::string line; std::getline(lines, line);)
      found.push_back(std::get<NoteEvent>(worker_event_from_json(nlohmann::json::parse(line)).body).message);
    return found;
  }

  SystemClock clock_;
  TempFolder folder_;
  std::atomic<bool> stop_{false};
};

// Ranks that began to read minutes apart ended each other by a time-out.
TEST_F(ReadTogether, ARankThatReadsLongerThanACollectiveMayTakeIsWaitedFor) {
  std::array<int, 3> vocabularies{};
  run_ranks(3, [&](Communicator& world) {
    EventLog events = events_of(world.rank());
    const auto read = [slow = world.rank() == 1](Reading& reading) {
      reading.expect(100);
      if (slow) std::this_thread::sleep_for(3s);
      reading.advance(100);
      return source_of(7);
    };
    vocabularies[static_cast<std::size_t>(world.rank())] =
        read_together(world, events, stop_, read, kPace).vocabulary;
  });
  EXPECT_THAT(vocabularies, ElementsAre(7, 7, 7));
  EXPECT_THAT(notes(0), Contains("reading the text: 67 % done; 2 of 3 ranks have read it"));
  EXPECT_THAT(notes(1), ElementsAre()) << "one rank tells for all";
}

TEST_F(ReadTogether, AllRanksLeaveWhenOneIsAskedToStopWhileItReads) {
  std::array<bool, 2> left{};
  run_ranks(2, [&](Communicator& world) {
    EventLog events = events_of(world.rank());
    std::atomic<bool> stop{false};
    const auto read = [&stop, asked = world.rank() == 1](Reading& reading) {
      if (asked) stop = true;
      return read_for_ever(reading);
    };
    try {
      read_together(world, events, stop, read, kPace);
    } catch (const StopRequested&) {
      left[static_cast<std::size_t>(world.rank())] = true;
    }
  });
  EXPECT_THAT(left, ElementsAre(true, true));
}

TEST_F(ReadTogether, WhatOneRankCannotReadEndsAll) {
  std::array<std::string, 2> ends;
  run_ranks(2, [&](Communicator& world) {
    EventLog events = events_of(world.rank());
    const auto read = [bad = world.rank() == 1](Reading& reading) {
      if (bad) throw BadData("corpus.txt:2 is no text");
      return read_for_ever(reading);
    };
    std::string& end = ends[static_cast<std::size_t>(world.rank())];
    try {
      read_together(world, events, stop_, read, kPace);
    } catch (const BadData& error) {
      end = error.what();
    } catch (const PeerLost&) {
      end = "peer lost";
    }
  });
  EXPECT_THAT(ends, ElementsAre("peer lost", "corpus.txt:2 is no text"));
}

// A node with other files under the same paths trained its part of every batch on them.
TEST_F(ReadTogether, RanksThatHaveReadOtherTextThanOthersAllLeaveAndAreNamed) {
  std::array<std::string, 3> ends;
  run_ranks(3, [&](Communicator& world) {
    EventLog events = events_of(world.rank());
    const auto read = [odd = world.rank() == 1](Reading&) {
      TaskSource source = source_of(7);
      source.text = {1000, 50, odd ? "fedcba9876543210" : "0123456789abcdef"};
      return source;
    };
    try {
      read_together(world, events, stop_, read, kPace);
    } catch (const BadData& error) {
      ends[static_cast<std::size_t>(world.rank())] = error.what();
    }
  });
  EXPECT_THAT(ends, testing::Each(AllOf(HasSubstr("(XXH3 0123456789abcdef) on ranks 0, 2"),
                                        HasSubstr("(XXH3 fedcba9876543210) on rank 1"))));
}

// A thread that hung in the file system went on while the process took itself apart.
TEST_F(ReadTogether, AProcessThatLeavesAReaderBehindEndsWithoutTakingItselfApart) {
  const auto code_of = [&](bool hangs) {
    return ForkedProcesses(1,
                           [&](int) -> int {
                             std::atexit([] { std::_Exit(1); });
                             SingleCommunicator alone;
                             EventLog events = events_of(0);
                             const std::atomic<bool> stop{hangs};
                             const auto read = [hangs](Reading&) {
                               if (hangs) std::this_thread::sleep_for(1h);
                               return source_of(7);
                             };
                             try {
                               read_together(alone, events, stop, read, kPace);
                             } catch (const StopRequested&) {
                             }
                             leave_process(7);
                           })
        .wait(0);
  };
  EXPECT_EQ(code_of(true), 7);
  EXPECT_EQ(code_of(false), 1);
}

TEST_F(ReadTogether, WhatWasNoticedAboutTheTextIsNotedOnce) {
  run_ranks(2, [&](Communicator& world) {
    EventLog events = events_of(world.rank());
    const auto read = [](Reading& reading) {
      reading.warn("one sentence a document");
      return source_of(7);
    };
    read_together(world, events, stop_, read);
  });
  EXPECT_THAT(notes(0), ElementsAre("one sentence a document"));
  EXPECT_THAT(notes(1), ElementsAre());
}

TEST_F(ReadTogether, ARankAloneTellsItsOwnProgress) {
  SingleCommunicator alone;
  EventLog events = events_of(0);
  const auto read = [](Reading& reading) {
    reading.expect(4);
    reading.advance(1);
    std::this_thread::sleep_for(200ms);
    return source_of(7);
  };
  read_together(alone, events, stop_, read, kPace);
  EXPECT_THAT(notes(0), Contains("reading the text: 25 % done"));
}

}  // namespace
}  // namespace podium
