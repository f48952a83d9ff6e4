// What the CPU makes of a weight for inference at its first use with more rows than few_rows.h takes: a dense
// matrix, in the type that its products run in and the form that is fastest on this processor.
//
//   panels        f32, bf16 and i8 where AVX-512 has instructions for them
//   oneDNN        bf16 and i8 where the processor has AMX, and floats where there are no panels
//   wide integers i8 elsewhere
//
// f16 runs in f32, e4m3 in bf16 where that has instructions, else in f32: the same products.
#pragma once

#include <memory>

#include "worker/ops/cpu/integer_product.h"
#include "worker/ops/cpu/panel_product.h"
#include "worker/ops/inference_linear.h"

namespace podium::ops::cpu {

enum class ProductWay { panels, onednn, wide_integers };

struct ProductPlan {
  ProductWay way;
  DType type;  // of the product's operands

  bool operator==(const ProductPlan&) const = default;
};

// For a weight of this type on a processor whose instructions, as far as oneDNN may use them, are `isa`.
ProductPlan product_plan(DType weight, dnnl::cpu_isa isa);

struct DenseWeight final : PackedWeight {
  ProductPlan plan;
  PanelWeight panels;    // where those multiply
  Tensor values;         // that oneDNN reads, f32 or i8; empty where the weight's own serve
  LinearWeight product;  // of them
  std::unique_ptr<IntegerWeight> integers;  // of i8 without panels
};

// Made according to `plan` where the weight has none yet.
DenseWeight& dense_weight(Context& context, InferenceWeight& weight, const ProductPlan& plan);

}  // namespace podium::ops::cpu
