#include "worker/infer/precision.h"

#include <array>
#include <stdexcept>

#include "common/base/check.h"
#include "worker/ops/backend.h"
#include "worker/ops/quantised.h"

namespace podium {
namespace {

struct Row {
  InferencePrecision precision;
  std::string_view name;
  DType product;
};

constexpr std::array<Row, 5> kTable{{{InferencePrecision::fp32, "fp32", DType::f32},
                                     {InferencePrecision::bf16, "bf16", DType::bf16},
                                     {InferencePrecision::fp16, "fp16", DType::f16},
                                     {InferencePrecision::int8, "int8", DType::i8},
                                     {InferencePrecision::fp8, "fp8", DType::e4m3}}};

const Row& row_of(InferencePrecision precision) {
  for (const Row& row : kTable)
    if (row.precision == precision) return row;
  PODIUM_CHECK(false, "every precision is in the table");
}

}  // namespace

std::string_view to_string(InferencePrecision precision) { return row_of(precision).name; }

InferencePrecision inference_precision_from(std::string_view name) {
  for (const Row& row : kTable)
    if (row.name == name) return row.precision;
  throw std::invalid_argument("\"" + std::string(name) + "\" is no precision: fp32, bf16, fp16, int8 or fp8");
}

DType product_type(InferencePrecision precision) { return row_of(precision).product; }

DType activation_type(InferencePrecision precision, const Context& context) {
  const DType product = product_type(precision);
  if (!ops::is_quantised(product)) return product;
  return ops::backend(context).quantised_activations;
}

}  // namespace podium
