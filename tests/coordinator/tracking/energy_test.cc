// Energy of jobs from what nodes report, beside sums worked out by hand.
#include "coordinator/tracking/energy.h"

#include <gtest/gtest.h>

namespace podium {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Time at(double second) { return Time{milliseconds(static_cast<std::int64_t>(1000 * second))}; }

PowerReport watts(std::vector<double> of_gpus) {
  PowerReport report{"boot-1", {}, {}};
  for (std::size_t i = 0; i < of_gpus.size(); ++i) {
    DeviceReading reading;
    reading.device = static_cast<int>(i);
    reading.power = of_gpus[i];
    report.readings.push_back(reading);
  }
  return report;
}

PowerReport joules(double drawn, const std::string& boot = "boot-1") { return {boot, {}, drawn}; }

HolderOnNode gpus(std::int64_t job, std::vector<int> devices, double since = 0) {
  return {{{job}, 1}, at(since), "gpu", std::move(devices)};
}
HolderOnNode slots(std::int64_t job, std::vector<int> devices, double since = 0) {
  return {{{job}, 1}, at(since), "cpu", std::move(devices)};
}

const NodeId kNode{"node-1"};

TEST(Energy, AGpusIsTheAreaUnderItsPower) {
  EnergyMeter meter;
  EXPECT_TRUE(meter.take(kNode, at(0), watts({100, 300}), {gpus(1, {0, 1})}).empty())
      << "one reading is none";
  const auto drawn = meter.take(kNode, at(10), watts({200, 300}), {gpus(1, {0, 1})});
  ASSERT_EQ(drawn.size(), 1u);
  EXPECT_DOUBLE_EQ(drawn[0].joules, 10 * 150 + 10 * 300);
  EXPECT_EQ(drawn[0].covered_ms, 20'000) << "two devices for ten seconds";
  EXPECT_EQ(drawn[0].shared_ms, 0);
  EXPECT_EQ(drawn[0].attempt, (AttemptId{{1}, 1}));
}

TEST(Energy, EachJobHasThatOfItsOwnDevices) {
  EnergyMeter meter;
  meter.take(kNode, at(0), watts({100, 400}), {});
  const auto drawn = meter.take(kNode, at(10), watts({100, 400}), {gpus(1, {0}), gpus(2, {1})});
  ASSERT_EQ(drawn.size(), 2u);
  EXPECT_DOUBLE_EQ(drawn[0].joules, 1000);
  EXPECT_DOUBLE_EQ(drawn[1].joules, 4000);
}

TEST(Energy, AJobThatBeganInBetweenCountsFromItsBegin) {
  EnergyMeter meter;
  meter.take(kNode, at(0), watts({0}), {});
  const auto drawn = meter.take(kNode, at(10), watts({100}), {gpus(1, {0}, 6)});
  ASSERT_EQ(drawn.size(), 1u);
  EXPECT_DOUBLE_EQ(drawn[0].joules, 4 * 80) << "from 60 W at its begin to 100 W";
  EXPECT_EQ(drawn[0].covered_ms, 4000);
}

TEST(Energy, OfALongGapNothingIsGuessed) {
  EnergyMeter meter;
  meter.take(kNode, at(0), watts({100}), {gpus(1, {0})});
  EXPECT_EQ(meter.take(kNode, at(60), watts({100}), {gpus(1, {0})}).size(), 1u);
  EXPECT_TRUE(meter.take(kNode, at(121), watts({100}), {gpus(1, {0})}).empty());
  EXPECT_EQ(meter.take(kNode, at(131), watts({100}), {gpus(1, {0})}).at(0).covered_ms, 10'000);
}

TEST(Energy, ADeviceWithoutAReadingIsNotCoveredAndNotZero) {
  EnergyMeter meter;
  PowerReport half = watts({100, 0});
  half.readings[1].power.reset();
  meter.take(kNode, at(0), half, {gpus(1, {0, 1})});
  const auto drawn = meter.take(kNode, at(10), half, {gpus(1, {0, 1})});
  ASSERT_EQ(drawn.size(), 1u);
  EXPECT_EQ(drawn[0].covered_ms, 10'000) << "of one of its two devices";
  half.readings.clear();
  meter.take(kNode, at(20), half, {gpus(1, {0, 1})});
  EXPECT_TRUE(meter.take(kNode, at(30), half, {gpus(1, {0, 1})}).empty());
}

TEST(Energy, AClockThatStandsOrGoesBackCountsNothing) {
  EnergyMeter meter;
  meter.take(kNode, at(10), watts({100}), {gpus(1, {0})});
  EXPECT_TRUE(meter.take(kNode, at(10), watts({100}), {gpus(1, {0})}).empty());
  EXPECT_TRUE(meter.take(kNode, at(5), watts({100}), {gpus(1, {0})}).empty());
  const auto drawn = meter.take(kNode, at(15), watts({100}), {gpus(1, {0})});
  ASSERT_EQ(drawn.size(), 1u);
  EXPECT_EQ(drawn[0].covered_ms, 5'000) << "not again what was counted up to 10 s";
}

TEST(Energy, ThePackagesAreTheJobsThatHasTheNodeForItself) {
  EnergyMeter meter;
  meter.take(kNode, at(0), joules(1000), {slots(1, {0, 1})});
  const auto drawn = meter.take(kNode, at(10), joules(1600), {slots(1, {0, 1})});
  ASSERT_EQ(drawn.size(), 1u);
  EXPECT_DOUBLE_EQ(drawn[0].joules, 600);
  EXPECT_EQ(drawn[0].covered_ms, 20'000);
}

TEST(Energy, WhoseThePackagesWereNobodySaysWhereJobsShareThem) {
  EnergyMeter meter;
  meter.take(kNode, at(0), joules(1000), {slots(1, {0}), slots(2, {1, 2})});
  const auto drawn = meter.take(kNode, at(10), joules(1600), {slots(1, {0}), slots(2, {1, 2})});
  ASSERT_EQ(drawn.size(), 2u);
  EXPECT_EQ(drawn[0].joules, 0);
  EXPECT_EQ(drawn[0].covered_ms, 0);
  EXPECT_EQ(drawn[0].shared_ms, 10'000);
  EXPECT_EQ(drawn[1].shared_ms, 20'000);
  meter.take(kNode, at(20), joules(1700), {});
  EXPECT_EQ(meter.take(kNode, at(30), joules(1800), {slots(1, {0}), gpus(2, {4})}).at(0).shared_ms, 10'000)
      << "a job on GPUs uses the processors as well";
}

TEST(Energy, AnAgentThatStartedAnewCountsFromThere) {
  EnergyMeter meter;
  meter.take(kNode, at(0), joules(1000), {slots(1, {0})});
  EXPECT_TRUE(meter.take(kNode, at(10), joules(1200, "boot-2"), {slots(1, {0})}).empty());
  EXPECT_DOUBLE_EQ(meter.take(kNode, at(20), joules(1225, "boot-2"), {slots(1, {0})}).at(0).joules, 25);
}

TEST(Energy, ReportsOfOneMomentOrInAnotherOrderCountNothingTwiceAndLoseNothing) {
  EnergyMeter meter;
  meter.take(kNode, at(0), joules(1000), {slots(1, {0})});
  EXPECT_TRUE(meter.take(kNode, at(0), joules(1100), {slots(1, {0})}).empty());
  EXPECT_DOUBLE_EQ(meter.take(kNode, at(10), joules(1300), {slots(1, {0})}).at(0).joules, 300);
  EXPECT_TRUE(meter.take(kNode, at(11), joules(1200), {slots(1, {0})}).empty()) << "it is older";
  EXPECT_DOUBLE_EQ(meter.take(kNode, at(20), joules(1400), {slots(1, {0})}).at(0).joules, 100);
}

TEST(Energy, UpToAMomentAShareCountsInPart) {
  const std::vector<DrawnEnergy> drawn{{{{1}, 1}, at(0), at(60), 600, 60'000, 0},
                                       {{{1}, 1}, at(60), at(100), 800, 40'000, 20'000}};
  EXPECT_EQ(sum_of(drawn, {}), (EnergySum{1400, 100'000, 20'000}));
  EXPECT_EQ(sum_of(drawn, at(70)), (EnergySum{600 + 200, 70'000, 5'000}));
  EXPECT_EQ(sum_of(drawn, at(0)), EnergySum{});
}

}  // namespace
}  // namespace podium
