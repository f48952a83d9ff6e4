#include "worker/tensor/profiler.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "tests/worker/comm/thread_device.h"
#include "worker/tensor/tensor.h"

namespace podium {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::Pair;
using testing::UnorderedElementsAre;

ProfileEvent event(const char* name, bool is_phase, std::int64_t begin, std::int64_t duration,
                   std::ptrdiff_t parent, double flops = 0) {
  return {name, is_phase, begin, duration, {.flops = flops}, parent};
}

// forward [0, 100) with product [10, 40) and product [50, 90), in which lies softmax [60, 70).
const std::vector<ProfileEvent> kForward = {event("forward", true, 0, 100'000'000, -1),
                                            event("product", false, 10'000'000, 30'000'000, 0, 3e9),
                                            event("product", false, 50'000'000, 40'000'000, 0, 3e9),
                                            event("softmax", false, 60'000'000, 10'000'000, 2)};

TEST(Profiler, WithoutOneAScopeDoesNothing) {
  const Context context;
  const ProfilePhase phase(context, "forward");
  const ProfileScope op(context, "product");
}

TEST(Profiler, RecordsScopesInsideEachOther) {
  Profiler profiler;
  const Context context{.profiler = &profiler};
  {
    const ProfilePhase phase(context, "forward");
    {
      const ProfileScope op(context, "product", {.flops = 8, .bytes = 16, .shape = {2, 1, 2}});
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    const ProfileScope other(context, "softmax");
  }
  const auto& events = profiler.events();
  ASSERT_EQ(events.size(), 3U);
  EXPECT_STREQ(events[0].name, "forward");
  EXPECT_EQ(events[0].parent, -1);
  EXPECT_STREQ(events[1].name, "product");
  EXPECT_EQ(events[1].parent, 0);
  EXPECT_EQ(events[1].work.flops, 8);
  EXPECT_EQ(events[1].work.bytes, 16);
  EXPECT_GE(events[1].duration_ns, 2'000'000);
  EXPECT_EQ(events[2].parent, 0);
  EXPECT_GE(events[2].begin_ns, events[1].begin_ns + events[1].duration_ns);
  EXPECT_GE(events[0].duration_ns, events[1].duration_ns + events[2].duration_ns);
}

// Whose streams take 300 us for whatever is put on them, while the host goes on.
TEST(Profiler, TakesADevicesTimeOnADevice) {
  ThreadDevice device("GPU-0");
  const auto stream = device.make_stream(StreamPriority::normal);
  Profiler profiler;
  const Context context{.memory = {&device, stream.get()}, .profiler = &profiler};
  int from = 1, to = 0;
  {
    const ProfilePhase phase(context, "step");
    {
      const ProfileScope op(context, "long");
      for (int i = 0; i < 20; ++i) stream->copy(&to, &from, sizeof(int));
    }
    const ProfileScope op(context, "short");
    stream->copy(&to, &from, sizeof(int));
  }
  const auto& events = profiler.events();
  ASSERT_EQ(events.size(), 3U);
  EXPECT_GE(events[1].duration_ns, 20 * 300'000);
  EXPECT_GE(events[2].begin_ns, events[1].begin_ns + events[1].duration_ns);
  EXPECT_GE(events[0].duration_ns, events[1].duration_ns + events[2].duration_ns);
}

TEST(Profiler, SelectsPhasesAfterTheWarmUp) {
  const std::vector<ProfileEvent> events = {
      event("step", true, 0, 10, -1),       event("product", false, 1, 2, 0),
      event("checkpoint", true, 11, 5, -1), event("step", true, 20, 10, -1),
      event("forward", true, 21, 8, 3),     event("product", false, 22, 2, 4),
      event("evaluate", true, 31, 5, -1),   event("product", false, 32, 2, 6),
      event("step", true, 40, 10, -1),      event("product", false, 41, 3, 8)};
  const std::vector<ProfileEvent> selected = select_phases(events, "step", 1);
  ASSERT_EQ(selected.size(), 5U);
  std::vector<std::pair<std::int64_t, std::ptrdiff_t>> begins_and_parents;
  for (const ProfileEvent& e : selected) begins_and_parents.emplace_back(e.begin_ns, e.parent);
  EXPECT_THAT(begins_and_parents,
              ElementsAre(Pair(20, -1), Pair(21, 0), Pair(22, 1), Pair(40, -1), Pair(41, 3)));
}

TEST(Profiler, KeepsMemoryByKind) {
  Profiler profiler;
  profiler.set_memory("weights", 100);
  profiler.add_memory("weight copies", 10);
  profiler.add_memory("weight copies", 5);
  EXPECT_THAT(profiler.memory(), UnorderedElementsAre(Pair("weights", 100), Pair("weight copies", 15)));
}

TEST(Profiler, TimeBelongsToTheInnermostScope) {
  const std::vector<ProfileRow> rows = summarise(kForward);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].op, "product");
  EXPECT_EQ(rows[0].phase, "forward");
  EXPECT_EQ(rows[0].calls, 2);
  EXPECT_EQ(rows[0].flops, 6e9);
  EXPECT_THAT(rows[0].seconds, DoubleNear(0.060, 1e-9));
  EXPECT_EQ(rows[1].op, "");  // of forward itself
  EXPECT_THAT(rows[1].seconds, DoubleNear(0.030, 1e-9));
  EXPECT_EQ(rows[2].op, "softmax");
  EXPECT_THAT(rows[2].seconds, DoubleNear(0.010, 1e-9));
}

TEST(Profiler, TellsProductsOfDifferentShapesApart) {
  std::vector<ProfileEvent> events = kForward;
  events[2].work.shape = {64, 32, 16};
  std::vector<std::string> ops;
  for (const ProfileRow& row : summarise(events)) ops.push_back(row.op);
  EXPECT_THAT(ops, UnorderedElementsAre("", "product", "product[64, 32, 16]", "softmax"));
}

TEST(Profiler, CountsOnlyOperandsThatAreGiven) {
  const Tensor x(DType::bf16, {4, 8});
  EXPECT_EQ(bytes_of(x.view(), ConstTensorView{}, x.view()), 128);
}

TEST(Profiler, ATraceIsWhatPerfettoReads) {
  const auto trace = nlohmann::json::parse(trace_json(kForward, 3, "rank 3"));
  const auto& entries = trace.at("traceEvents");
  ASSERT_EQ(entries.size(), 5U);
  EXPECT_EQ(entries[0].at("ph"), "M");
  EXPECT_EQ(entries[0].at("args").at("name"), "rank 3");
  EXPECT_EQ(entries[2].at("ph"), "X");
  EXPECT_EQ(entries[2].at("ts"), 10'000.0);  // microseconds
  EXPECT_EQ(entries[2].at("dur"), 30'000.0);
  EXPECT_EQ(entries[2].at("pid"), 3);
  EXPECT_EQ(entries[2].at("args").at("GFLOP/s"), 100.0);
}

}  // namespace
}  // namespace podium
