// The schedules of all stages, executed together: complete, in order, within their memory, never stuck.
#include "worker/train/pipeline_schedule.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace podium {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

using Schedules = std::vector<std::vector<PipelineOp>>;  // by stage

struct Case {
  PipelineShape shape;
  int micro_batches = 1;
};

std::string name_of(const testing::TestParamInfo<Case>& info) {
  return std::to_string(info.param.shape.stages) + "Stages" + std::to_string(info.param.shape.chunks) +
         "Chunks" + std::to_string(info.param.micro_batches) + "MicroBatches";
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (int stages = 1; stages <= 8; ++stages)
    for (int chunks = 1; chunks <= (stages == 1 ? 1 : 4); ++chunks)
      for (int micro_batches = 1; micro_batches <= 24; ++micro_batches)
        if (chunks == 1 || micro_batches % stages == 0) cases.push_back({{stages, chunks}, micro_batches});
  return cases;
}

Schedules training(const Case& c) {
  Schedules schedules;
  for (int stage = 0; stage < c.shape.stages; ++stage)
    schedules.push_back(training_schedule(c.shape, stage, c.micro_batches));
  return schedules;
}

Schedules evaluation(const Case& c) {
  return Schedules(static_cast<std::size_t>(c.shape.stages), evaluation_schedule(c.shape, c.micro_batches));
}

// Runs all stages as processes would: each in its own order, an op only when what it needs has been computed.
// Returns how many ops never ran.
class Simulation {
 public:
  Simulation(const PipelineShape& shape, const Schedules& schedules) : shape_(shape), schedules_(schedules) {}

  std::size_t run() {
    std::vector<std::size_t> next(schedules_.size(), 0);
    for (bool moved = true; moved;) {
      moved = false;
      for (int stage = 0; stage < shape_.stages; ++stage) {
        const auto s = static_cast<std::size_t>(stage);
        while (next[s] < schedules_[s].size() && try_op(stage, schedules_[s][next[s]])) {
          ++next[s];
          moved = true;
        }
      }
    }
    std::size_t left = 0;
    for (std::size_t s = 0; s < schedules_.size(); ++s) left += schedules_[s].size() - next[s];
    return left;
  }

  // How long it takes where every op takes one tick, its result is there with the next, and all stages work
  // side by side.
  int ticks() {
    std::vector<std::size_t> next(schedules_.size(), 0);
    for (int tick = 0;; ++tick) {
      std::vector<int> ready;
      for (int stage = 0; stage < shape_.stages; ++stage) {
        const auto s = static_cast<std::size_t>(stage);
        if (next[s] < schedules_[s].size() && can_run(stage, schedules_[s][next[s]])) ready.push_back(stage);
      }
      if (ready.empty()) return tick;
      for (const int stage : ready) {
        const auto s = static_cast<std::size_t>(stage);
        try_op(stage, schedules_[s][next[s]++]);
      }
    }
  }

 private:
  // The model as one sequence of places: place = chunk * stages + stage.
  int place(int stage, int chunk) const { return chunk * shape_.stages + stage; }

  bool can_run(int stage, const PipelineOp& op) const {
    const int here = place(stage, op.chunk);
    const int last = shape_.stages * shape_.chunks - 1;
    const auto done = [&](Direction direction, int at) {
      return done_.contains({direction, at, op.micro_batch});
    };
    if (op.direction == Direction::forward) return here == 0 || done(Direction::forward, here - 1);
    return done(Direction::forward, here) && (here == last || done(Direction::backward, here + 1));
  }

  bool try_op(int stage, const PipelineOp& op) {
    if (!can_run(stage, op)) return false;
    return done_.insert({op.direction, place(stage, op.chunk), op.micro_batch}).second;
  }

  PipelineShape shape_;
  const Schedules& schedules_;
  std::set<std::tuple<Direction, int, int>> done_;
};

class PipelineSchedule : public testing::TestWithParam<Case> {};

TEST_P(PipelineSchedule, EveryStageDoesEveryOpOnceAndAChunkTakesMicroBatchesInOrder) {
  const Case& c = GetParam();
  for (const std::vector<PipelineOp>& schedule : training(c)) {
    EXPECT_THAT(schedule, SizeIs(2 * c.shape.chunks * c.micro_batches));
    std::map<std::pair<Direction, int>, int> next;
    for (const PipelineOp& op : schedule) {
      ASSERT_LT(op.chunk, c.shape.chunks);
      EXPECT_EQ(op.micro_batch, (next[{op.direction, op.chunk}]++));
    }
  }
}

TEST_P(PipelineSchedule, AllStagesTogetherReachTheEnd) {
  const Case& c = GetParam();
  EXPECT_EQ(Simulation(c.shape, training(c)).run(), 0U);
  for (int micro_batches = c.micro_batches; micro_batches < c.micro_batches + c.shape.stages; ++micro_batches)
    EXPECT_EQ(Simulation(c.shape, evaluation({c.shape, micro_batches})).run(), 0U);
}

TEST_P(PipelineSchedule, SlotsAreFreeWhenTakenAndNoMoreThanTheBound) {
  const Case& c = GetParam();
  for (int stage = 0; stage < c.shape.stages; ++stage) {
    const int behind = c.shape.stages - stage - 1;
    const int bound =
        c.shape.chunks == 1 ? behind + 1 : 2 * behind + (c.shape.chunks - 1) * c.shape.stages + 1;
    std::map<int, std::pair<int, int>> in_flight;  // by slot
    for (const PipelineOp& op : training_schedule(c.shape, stage, c.micro_batches)) {
      const std::pair work{op.chunk, op.micro_batch};
      EXPECT_LT(op.slot, std::min(bound, c.shape.chunks * c.micro_batches));
      if (op.direction == Direction::forward) {
        EXPECT_TRUE(in_flight.emplace(op.slot, work).second) << "slot " << op.slot << " is in use";
      } else {
        ASSERT_TRUE(in_flight.contains(op.slot));
        EXPECT_EQ(in_flight.at(op.slot), work);
        in_flight.erase(op.slot);
      }
    }
    EXPECT_TRUE(in_flight.empty());
  }
}

// Narayanan et al. (2021): the time in which a stage has nothing to do is that of stages - 1 forwards and
// backwards, of the whole model's stages without interleaving and of chunks with it.
TEST_P(PipelineSchedule, StagesIdleNoLongerThanThePaperSays) {
  const Case& c = GetParam();
  const Schedules schedules = training(c);
  const int forwards = c.shape.chunks * c.micro_batches;
  EXPECT_EQ(Simulation(c.shape, schedules).ticks(), 2 * (forwards + c.shape.stages - 1));
}

// The last micro-batch leaves the chunks last one first: gradients then become final from the end of the
// buffer to its beginning.
TEST_P(PipelineSchedule, ChunksAreFinishedLastOneFirst) {
  const Case& c = GetParam();
  for (const std::vector<PipelineOp>& schedule : training(c)) {
    std::vector<int> finished;
    for (const PipelineOp& op : schedule)
      if (op.direction == Direction::backward && op.micro_batch == c.micro_batches - 1)
        finished.push_back(op.chunk);
    EXPECT_THAT(finished, SizeIs(c.shape.chunks));
    EXPECT_TRUE(std::ranges::is_sorted(finished, std::greater()));
  }
}

TEST_P(PipelineSchedule, EveryInputIsSentToItsStageOnce) {
  const Case& c = GetParam();
  for (const Schedules& schedules : {training(c), evaluation(c)}) {
    for (int to = 0; to < c.shape.stages; ++to) {
      std::set<std::tuple<Direction, int, int>> received;
      for (int from = 0; from < c.shape.stages; ++from)
        for (const PipelineMessage& m :
             messages_between(c.shape, schedules[static_cast<std::size_t>(from)], from, to))
          EXPECT_TRUE(received.emplace(m.direction, m.chunk, m.micro_batch).second);
      std::set<std::tuple<Direction, int, int>> needed;
      for (const PipelineOp& op : schedules[static_cast<std::size_t>(to)]) {
        const bool own = op.direction == Direction::forward ? is_model_begin(to, op.chunk)
                                                            : is_model_end(c.shape, to, op.chunk);
        if (!own) needed.emplace(op.direction, op.chunk, op.micro_batch);
      }
      EXPECT_EQ(received, needed);
    }
  }
}

// What a message tells the receiver about its own messages: it may then let go of the first so many.
TEST_P(PipelineSchedule, MessagesTellWhatTheirSenderHasTaken) {
  const Case& c = GetParam();
  const Schedules schedules = training(c);
  const auto between = [&](int from, int to) {
    return messages_between(c.shape, schedules[static_cast<std::size_t>(from)], from, to);
  };
  for (int from = 0; from < c.shape.stages; ++from)
    for (int to = 0; to < c.shape.stages; ++to) {
      const auto sent_back = static_cast<int>(between(to, from).size());
      int before = 0;
      for (const PipelineMessage& message : between(from, to)) {
        EXPECT_GE(message.taken, before);
        EXPECT_LE(message.taken, sent_back);
        before = message.taken;
        if (message.direction == Direction::backward && c.shape.chunks == 1) {
          EXPECT_GT(message.taken, message.micro_batch) << "no gradient before its activation";
        }
      }
    }
}

INSTANTIATE_TEST_SUITE_P(Shapes, PipelineSchedule, testing::ValuesIn(all_cases()), name_of);

// "f0" forward of micro-batch 0; "B1.2" backward of micro-batch 2 through chunk 1.
std::vector<std::string> names(const std::vector<PipelineOp>& schedule, int chunks) {
  std::vector<std::string> names;
  for (const PipelineOp& op : schedule)
    names.push_back((op.direction == Direction::forward ? "f" : "B") +
                    (chunks > 1 ? std::to_string(op.chunk) + "." : "") + std::to_string(op.micro_batch));
  return names;
}

// Narayanan et al. (2021), figures 3 and 4: 4 devices, 8 micro-batches.
TEST(PipelineScheduleOrder, IsThatOfThePaper) {
  EXPECT_THAT(names(training_schedule({4, 1}, 0, 8), 1),
              ElementsAre("f0", "f1", "f2", "f3", "B0", "f4", "B1", "f5", "B2", "f6", "B3", "f7", "B4", "B5",
                          "B6", "B7"));
  EXPECT_THAT(names(training_schedule({4, 1}, 3, 8), 1),
              ElementsAre("f0", "B0", "f1", "B1", "f2", "B2", "f3", "B3", "f4", "B4", "f5", "B5", "f6", "B6",
                          "f7", "B7"));
  EXPECT_THAT(
      names(training_schedule({4, 2}, 3, 8), 2),
      ElementsAre("f0.0", "f0.1", "f0.2", "f0.3", "f1.0", "B1.0", "f1.1", "B1.1", "f1.2", "B1.2", "f1.3",
                  "B1.3", "f0.4", "B0.0", "f0.5", "B0.1", "f0.6", "B0.2", "f0.7", "B0.3", "f1.4", "B1.4",
                  "f1.5", "B1.5", "f1.6", "B1.6", "f1.7", "B1.7", "B0.4", "B0.5", "B0.6", "B0.7"));
}

TEST(PipelineScheduleOrder, OneProcessAlternates) {
  EXPECT_THAT(names(training_schedule({1, 1}, 0, 3), 1), ElementsAre("f0", "B0", "f1", "B1", "f2", "B2"));
}

}  // namespace
}  // namespace podium
