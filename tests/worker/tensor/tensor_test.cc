#include "worker/tensor/tensor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "worker/tensor/arena.h"

namespace podium {
namespace {

bool is_aligned(const void* address) { return reinterpret_cast<std::uintptr_t>(address) % kAlignment == 0; }

TEST(BFloat16, RoundsToNearestEven) {
  EXPECT_EQ(to_bfloat16(1.0F).bits, 0x3f80);
  EXPECT_EQ(to_bfloat16(1.0F + 0x1p-8F).bits, 0x3f80);      // a tie goes to the even neighbour, down here
  EXPECT_EQ(to_bfloat16(1.0F + 3 * 0x1p-8F).bits, 0x3f82);  // and up here
  EXPECT_EQ(to_bfloat16(1.0F + 0x1p-8F + 0x1p-20F).bits, 0x3f81);
  EXPECT_EQ(to_bfloat16(-0.0F).bits, 0x8000);
  EXPECT_EQ(to_bfloat16(std::numeric_limits<float>::max()).bits, 0x7f80);
}

TEST(BFloat16, KeepsInfinityAndNaN) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(to_float(to_bfloat16(infinity)), infinity);
  EXPECT_EQ(to_float(to_bfloat16(-infinity)), -infinity);
  EXPECT_TRUE(std::isnan(to_float(to_bfloat16(std::numeric_limits<float>::quiet_NaN()))));
  EXPECT_TRUE(std::isnan(to_float(to_bfloat16(infinity - infinity))));
}

TEST(BFloat16, EveryValueSurvivesTheWayThroughF32) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const BFloat16 value{static_cast<std::uint16_t>(bits)};
    if (std::isnan(to_float(value))) continue;
    EXPECT_EQ(to_bfloat16(to_float(value)).bits, bits);
  }
}

TEST(Shape, KnowsItsSizeAndText) {
  EXPECT_EQ(Shape({2, 3, 4}).size(), 24);
  EXPECT_EQ(Shape{}.size(), 1);
  EXPECT_EQ(Shape({0, 3}).size(), 0);
  EXPECT_EQ(to_string(Shape{32, 128}), "[32, 128]");
  EXPECT_NE((Shape{2, 3}), (Shape{3, 2}));
}

TEST(Tensor, IsAlignedAndZero) {
  for (const std::int64_t size : {1, 1000, 1 << 20}) {
    Tensor tensor(DType::f32, {size});
    EXPECT_TRUE(is_aligned(tensor.view().address));
    for (const float v : tensor.view().values<float>()) ASSERT_EQ(v, 0);
  }
}

// Memory that was used before, of a size that threads clear together and that ends within a page.
TEST(Tensor, OfManyPagesIsZero) {
  constexpr std::int64_t kSize = (std::int64_t{65} << 20) + 67;
  for (int i = 0; i < 2; ++i) {
    Tensor tensor(DType::u8, Shape{kSize});
    const auto bytes = tensor.view().values<std::uint8_t>();
    EXPECT_TRUE(std::ranges::all_of(bytes, [](std::uint8_t byte) { return byte == 0; }));
    std::ranges::fill(bytes, 255);
  }
}

TEST(Tensor, ViewsShareMemory) {
  Tensor tensor(DType::f32, {4, 3});
  tensor.view().values<float>()[7] = 5;
  const ConstTensorView again = tensor.view();
  EXPECT_EQ(again.values<float>()[7], 5);
  EXPECT_EQ(again.bytes(), 48U);
}

TEST(TensorDeathTest, RefusesAWrongElementTypeAndAViewOfAnotherSize) {
  Tensor tensor(DType::f32, {4});
  EXPECT_DEATH(tensor.view().data<BFloat16>(), "another element type");
  EXPECT_DEATH(view_of(tensor.view().values<float>(), {5}), "cover its memory exactly");
}

TEST(Arena, HandsOutAlignedMemoryThatDoesNotOverlap) {
  Arena arena;
  const TensorView a = arena.allocate(DType::bf16, {3}), b = arena.allocate(DType::f32, {1 << 20});
  const TensorView c = arena.allocate(DType::f32, {5});
  for (const TensorView& view : {a, b, c}) EXPECT_TRUE(is_aligned(view.address));
  for (float& v : b.values<float>()) v = 1;
  for (float& v : c.values<float>()) v = 2;
  EXPECT_EQ(b.values<float>().back(), 1);
  EXPECT_EQ(b.values<float>().front(), 1);
}

TEST(Arena, IsOneStableBlockFromTheSecondStepOn) {
  Arena arena;
  const auto step = [&] {
    arena.reset();
    std::vector<void*> addresses;
    for (int i = 0; i < 5; ++i) addresses.push_back(arena.allocate(DType::f32, {300000}).address);
    return addresses;
  };
  step();
  const auto second = step();
  EXPECT_EQ(step(), second);
  EXPECT_EQ(static_cast<std::byte*>(second[4]) - static_cast<std::byte*>(second[0]), 4 * 300000 * 4);
}

TEST(Arena, AScopeGivesBackWhatItTook) {
  Arena arena;
  arena.allocate(DType::f32, {8});
  void* inside = nullptr;
  {
    const ArenaScope scope(arena);
    inside = arena.allocate(DType::f32, {1 << 20}).address;
  }
  EXPECT_EQ(arena.used(), kAlignment);
  {
    const ArenaScope scope(arena);
    EXPECT_EQ(arena.allocate(DType::f32, {1 << 20}).address, inside);
  }
}

}  // namespace
}  // namespace podium
