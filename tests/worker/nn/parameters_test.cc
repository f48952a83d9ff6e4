#include "worker/nn/parameters.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace podium {
namespace {

ParameterStore small_store() {
  ParameterStore store;
  store.add("a.weight", {4, 8}, Initializer::normal, true);
  store.add("b.weight", {4, 8}, Initializer::normal, true);
  store.add("a.bias", {3}, Initializer::zeros, false);
  store.add("norm.weight", {5}, Initializer::ones, false);
  store.allocate();
  return store;
}

TEST(ParameterStore, LaysParametersOutOnCacheLines) {
  ParameterStore store = small_store();
  EXPECT_EQ(store.parameter_count(), 72);
  EXPECT_EQ(store.weights().size(), 96U);
  for (const Parameter& p : store.list()) EXPECT_EQ(p.offset % 16, 0) << p.name;
  EXPECT_EQ(store.find("a.bias")->offset, 64);
  EXPECT_EQ(store.find("missing"), nullptr);
}

TEST(ParameterStore, StacksNeighbours) {
  ParameterStore store = small_store();
  store.initialise(1, 0.02);
  const ConstTensorView both = store.weight(ParameterId{0}, 2);
  EXPECT_EQ(both.shape, (Shape{8, 8}));
  EXPECT_EQ(both.values<float>()[32], store.weights(*store.find("b.weight"))[0]);
}

TEST(ParameterStoreDeathTest, RefusesToStackWhatDoesNotTouchAndToNameTwice) {
  ParameterStore store = small_store();
  EXPECT_DEATH(store.weight(ParameterId{1}, 2), "side by side");
  ParameterStore open;
  open.add("x", {1}, Initializer::zeros, false);
  EXPECT_DEATH(open.add("x", {1}, Initializer::zeros, false), "same name: x");
}

TEST(ParameterStore, InitialisesEachParameterFromSeedAndName) {
  ParameterStore store = small_store(), same = small_store(), other = small_store();
  store.initialise(1, 0.02);
  same.initialise(1, 0.02);
  other.initialise(2, 0.02);
  EXPECT_TRUE(std::ranges::equal(store.weights(), same.weights()));
  EXPECT_FALSE(std::ranges::equal(store.weights(), other.weights()));
  const auto a = store.weights(*store.find("a.weight")), b = store.weights(*store.find("b.weight"));
  EXPECT_FALSE(std::ranges::equal(a, b));
  for (const float v : store.weights(*store.find("a.bias"))) EXPECT_EQ(v, 0);
  for (const float v : store.weights(*store.find("norm.weight"))) EXPECT_EQ(v, 1);
  double squares = 0;
  for (const float v : a) squares += static_cast<double>(v) * v;
  EXPECT_NEAR(std::sqrt(squares / 32), 0.02, 0.01);
}

TEST(ParameterStore, GapsStayZero) {
  ParameterStore store = small_store();
  store.initialise(1, 0.02);
  for (std::size_t i = 67; i < 80; ++i) EXPECT_EQ(store.weights()[i], 0) << i;
  for (std::size_t i = 85; i < 96; ++i) EXPECT_EQ(store.weights()[i], 0) << i;
}

TEST(ParameterStore, AChangeOfWeightsMovesTheGeneration) {
  ParameterStore store = small_store();
  const std::int64_t before = store.generation();
  store.weights_changed();
  EXPECT_NE(store.generation(), before);
}

}  // namespace
}  // namespace podium
