#include "worker/nn/parameters.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "worker/tensor/random.h"

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

// Each half of a whole [6, 8] cut along `axis` has the values the whole has there.
void expect_halves_of_the_whole(int axis) {
  const Shape full{6, 8};
  ParameterStore whole;
  whole.add("w", full, Initializer::normal, true);
  whole.allocate();
  whole.initialise(5, 0.02);
  for (std::int64_t half = 0; half < 2; ++half) {
    const std::int64_t extent = full[axis] / 2, begin = half * extent;
    ParameterStore store;
    Parameter declaration{.name = "w", .shape = full.with(axis, extent)};
    declaration.slice = {axis, begin, full[axis]};
    const ParameterId id = store.add(declaration);
    EXPECT_EQ(store[id].full_shape(), full);
    store.allocate();
    store.initialise(5, 0.02);
    const Shape shape = store[id].shape;
    for (std::int64_t i = 0; i < shape[0]; ++i) {
      for (std::int64_t j = 0; j < shape[1]; ++j) {
        const std::int64_t row = axis == 0 ? i + begin : i, column = axis == 1 ? j + begin : j;
        EXPECT_EQ(store.weights()[static_cast<std::size_t>(i * shape[1] + j)],
                  whole.weights()[static_cast<std::size_t>(row * full[1] + column)])
            << "axis " << axis << ", half " << half << ", element " << i << ", " << j;
      }
    }
  }
}

TEST(ParameterStore, ASliceStartsAsTheWholeWould) {
  expect_halves_of_the_whole(0);
  expect_halves_of_the_whole(1);
}

// What one thread draws, an element after the other, is what any number of threads draws: parameters of many
// ranges, of less than one, and slices whose runs begin and end within ranges.
TEST(ParameterStore, DrawsTheSameBitsByAnyNumberOfThreads) {
  const auto drawn_by = [](int threads) {
    ParameterStore store;
    store.add("a.weight", {130, 301}, Initializer::normal, true);
    store.add("b.weight", {3, 5}, Initializer::normal, true);
    store.add({.name = "rows", .shape = {70, 301}, .slice = {0, 60, 130}});
    store.add({.name = "columns", .shape = {130, 77}, .slice = {1, 224, 301}});
    store.add("norm.weight", {50}, Initializer::ones, false);
    store.allocate();
    store.initialise(3, 0.02, threads);
    return store;
  };
  const ParameterStore one = drawn_by(1);
  for (const int threads : {2, 7})
    EXPECT_TRUE(std::ranges::equal(drawn_by(threads).weights(), one.weights())) << threads << " threads";
  const Parameter& a = *one.find("a.weight");
  constexpr std::uint64_t kStreamOfA = 0xde73ae9d17c13f4e;  // FNV-1a of the name
  Random serial(3, kStreamOfA);
  for (const float value : one.weights(a)) ASSERT_EQ(value, static_cast<float>(serial.normal() * 0.02));
}

TEST(ParameterStore, TellsWhichElementsOfWhichParametersItRounds) {
  const auto rounding_of = [](int axis, std::int64_t step) {
    ParameterStore store;
    Parameter declaration{.name = "a", .shape = Shape{16, 32}};
    declaration.slice = {axis, 48, 64};
    const ParameterId first = store.add(declaration);
    declaration.name = "b";
    store.add(declaration);
    store.allocate();
    EXPECT_FALSE(store.rounding(first, 2).has_value());
    const std::int64_t before = store.generation();
    store.round_stochastically(1, step);
    EXPECT_GT(store.generation(), before) << "copies rounded by another step's draws are outdated";
    return *store.rounding(first, 2);
  };
  const ops::StochasticRounding rows = rounding_of(0, 5), columns = rounding_of(1, 6);
  ASSERT_EQ(rows.parts.size(), 2U);
  for (const ops::RoundedPart& part : rows.parts) {
    EXPECT_EQ(part.rows, 16);
    EXPECT_EQ(part.first, 48 * 32);
    EXPECT_EQ(part.pitch, 32);
  }
  EXPECT_EQ(columns.parts[0].first, 48);
  EXPECT_EQ(columns.parts[0].pitch, 64);
  EXPECT_NE(rows.parts[0].parameter, rows.parts[1].parameter);
  EXPECT_EQ(rows.parts[0].parameter, columns.parts[0].parameter);
  EXPECT_NE(rows.key.low, columns.key.low);
}

TEST(ParameterStore, ScalesTheDeviationWhereAsked) {
  ParameterStore plain, scaled;
  plain.add({.name = "w", .shape = Shape{64}});
  scaled.add({.name = "w", .shape = Shape{64}, .deviation = 0.5});
  for (ParameterStore* store : {&plain, &scaled}) {
    store->allocate();
    store->initialise(5, 0.02);
  }
  for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(scaled.weights()[i], plain.weights()[i] / 2);
}

TEST(ParameterStore, RoundsTheBuffersUp) {
  ParameterStore store;
  store.add("a", {3}, Initializer::zeros, false);
  store.allocate(64);
  EXPECT_EQ(store.weights().size(), 64U);
  EXPECT_EQ(store.gradients().size(), 64U);
  EXPECT_EQ(store.end(), 64);
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
