#include "worker/ops/pruned.h"

#include "tests/worker/ops/op_check.h"

namespace podium::test {
namespace {

TEST(Pruned, OnlyTheGradientsOfWeightsThatAreMinusZeroAreCleared) {
  for (const std::int64_t count : {1, 100, 9001}) {
    Values weights = random_values(count, 1), gradients = random_values(count, 2);
    for (std::size_t i = 0; i < weights.size(); i += 3) weights[i] = i % 2 == 0 ? -0.0F : 0.0F;
    Values expected = gradients;
    for (std::size_t i = 0; i < weights.size(); ++i)
      if (weights[i] == 0 && std::signbit(weights[i])) expected[i] = 0;
    Tensor given = tensor_of(gradients, DType::f32, {count});
    const Tensor held = tensor_of(weights, DType::f32, {count});
    Context context = make_context(2);
    ops::clear_pruned(context, held.view().values<float>(), given.view().values<float>());
    EXPECT_EQ(values_of(given), expected);
    EXPECT_FALSE(std::signbit(value_at(given, 0)));
  }
}

}  // namespace
}  // namespace podium::test
