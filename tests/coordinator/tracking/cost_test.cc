// Costs of jobs, beside sums worked out by hand.
#include "coordinator/tracking/cost.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace podium {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Time at(int minute) { return Time{std::chrono::minutes(minute)}; }

// Waits for 30 minutes, trains for 90, backs off for 30, trains for 60.
std::vector<LedgerPiece> pieces(int devices) {
  return {{at(0), at(30), LedgerKind::waiting, "resources", 0, devices},
          {at(30), at(40), LedgerKind::launching, "", 1, devices},
          {at(40), at(120), LedgerKind::stepping, "", 1, devices},
          {at(120), at(150), LedgerKind::backing_off, "", 0, devices},
          {at(150), at(210), LedgerKind::stepping, "", 2, devices}};
}

const Prices kPrices{"USD", {{"gpu", "", 2.0}, {"gpu", "NVIDIA H200", 4.0}, {"cpu", "", 0.1}}};

TEST(Cost, IsTheDeviceHoursThatWereHeldAtTheirPrice) {
  const Cost cost =
      cost_of(pieces(4), {{1, 4, "gpu", {"NVIDIA H200"}}, {2, 4, "gpu", {"NVIDIA H200"}}}, kPrices, {});
  ASSERT_TRUE(cost.amount);
  EXPECT_NEAR(*cost.amount, 4 * 2.5 * 4.0, 1e-9) << "2.5 hours; waiting and backing off cost nothing";
  EXPECT_THAT(cost.parts, ElementsAre(CostPart{"gpu", "NVIDIA H200", 4.0, 10.0}));
}

TEST(Cost, AModelWithoutAPriceOfItsOwnHasThatOfItsKind) {
  const Cost cost =
      cost_of(pieces(1), {{1, 1, "gpu", {"NVIDIA A100"}}, {2, 1, "gpu", {"nvidia h200"}}}, kPrices, {});
  EXPECT_NEAR(*cost.amount, 1.5 * 2.0 + 1.0 * 4.0, 1e-9);
  EXPECT_EQ(cost.parts.size(), 2u);
}

TEST(Cost, NodesOfAnAttemptCountEachWithItsOwnDevices) {
  const Cost cost = cost_of(pieces(3), {{1, 2, "gpu", {"NVIDIA H200"}}, {1, 1, "gpu", {"A"}}}, kPrices, {});
  EXPECT_NEAR(*cost.amount, 1.5 * (2 * 4.0 + 1 * 2.0), 1e-9);
}

TEST(Cost, UpToTheTargetIsWhatWasHeldUntilThen) {
  const Cost cost = cost_of(pieces(1), {{1, 1, "cpu", {}}, {2, 1, "cpu", {}}}, kPrices, at(180));
  EXPECT_NEAR(*cost.amount, (1.5 + 0.5) * 0.1, 1e-12);
}

TEST(Cost, APartWithoutAPriceLeavesTheWholeWithoutOne) {
  const Prices only_cpu{"USD", {{"cpu", "", 0.1}}};
  const Cost cost = cost_of(pieces(1), {{1, 1, "gpu", {"NVIDIA H200"}}, {2, 1, "cpu", {}}}, only_cpu, {});
  EXPECT_FALSE(cost.amount);
  EXPECT_THAT(cost.unpriced, ElementsAre("gpu NVIDIA H200"));
  EXPECT_THAT(cost_of(pieces(1), {{1, 1, "gpu", {"A", "NVIDIA H200"}}}, kPrices, {}).unpriced,
              ElementsAre("gpu A or NVIDIA H200"))
      << "which of them it was is not known";
}

TEST(Cost, PricesAreReadWithTheirKindAndModel) {
  EXPECT_EQ(*parse_price("gpu=2.50"), (Price{"gpu", "", 2.5}));
  EXPECT_EQ(*parse_price("gpu/NVIDIA H200=4"), (Price{"gpu", "NVIDIA H200", 4}));
  for (const char* bad :
       {"", "gpu", "gpu=", "gpu=x", "gpu=-1", "gpu=nan", "gpu=inf", "tpu=1", "gpu/=1", "=1", "gpu=1 "})
    EXPECT_THAT(describe(parse_price(bad).errors()), HasSubstr("write KIND=AMOUNT")) << bad;
}

}  // namespace
}  // namespace podium
