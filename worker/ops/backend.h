// A back end is a table with one function for each op of this folder, of the same type as the op. The CPU's
// table is in cpu/, CUDA's in a shared object of its own (device_library.h). An op checks its arguments and
// calls the table of its context; the functions in the table rely on these checks.
//
// The functions of a device take tensors, labels, ids and row numbers in the device's memory, put their work
// on the context's stream and do not wait for it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "worker/ops/attention.h"
#include "worker/ops/cached_attention.h"
#include "worker/ops/cross_entropy.h"
#include "worker/ops/distillation.h"
#include "worker/ops/dropout.h"
#include "worker/ops/embedding.h"
#include "worker/ops/fake_quantise.h"
#include "worker/ops/float8.h"
#include "worker/ops/gelu.h"
#include "worker/ops/inference_attention.h"
#include "worker/ops/inference_layer_norm.h"
#include "worker/ops/inference_linear.h"
#include "worker/ops/layer_norm.h"
#include "worker/ops/linear.h"
#include "worker/ops/optimizer.h"
#include "worker/ops/position_cross_entropy.h"
#include "worker/ops/pruned.h"
#include "worker/ops/rms_norm.h"
#include "worker/ops/rotary_heads.h"
#include "worker/ops/rows.h"
#include "worker/ops/squared_error.h"
#include "worker/ops/swiglu.h"
#include "worker/ops/tanh.h"

// clang-format off
// The ops that every back end has: podium::ops::cpu::NAME and podium::ops::cuda::NAME compute
// podium::ops::NAME.
#define PODIUM_OPS(OP)              \
  OP(dropout)                       \
  OP(add_dropout)                   \
  OP(gelu_forward)                  \
  OP(gelu_backward)                 \
  OP(layer_norm_forward)            \
  OP(layer_norm_backward)           \
  OP(add_layer_norm_forward)        \
  OP(add_layer_norm_backward)       \
  OP(rms_norm_forward)              \
  OP(rms_norm_backward)             \
  OP(add_rms_norm_forward)          \
  OP(add_rms_norm_backward)         \
  OP(cross_entropy)                 \
  OP(cross_entropy_backward)        \
  OP(class_maxima)                  \
  OP(class_sums)                    \
  OP(class_totals)                  \
  OP(class_gradients)               \
  OP(position_cross_entropy)        \
  OP(position_cross_entropy_backward) \
  OP(distillation)                  \
  OP(squared_error)                 \
  OP(squared_error_backward)        \
  OP(embedding_forward)             \
  OP(embedding_backward)            \
  OP(linear_forward)                \
  OP(linear_backward_input)         \
  OP(linear_backward_weight)        \
  OP(to_float8)                     \
  OP(float8_linear_forward)         \
  OP(float8_linear_backward_input)  \
  OP(float8_linear_backward_weight) \
  OP(add_column_sums)               \
  OP(widen_ranges)                  \
  OP(fake_quantise)                 \
  OP(fake_quantise_backward)        \
  OP(clear_pruned)                  \
  OP(gather_rows)                   \
  OP(scatter_add_rows)              \
  OP(tanh_forward)                  \
  OP(tanh_backward)                 \
  OP(swiglu_forward)                \
  OP(swiglu_backward)               \
  OP(rotary_heads_forward)          \
  OP(rotary_heads_backward)         \
  OP(attention_saved)               \
  OP(attention_forward)             \
  OP(attention_backward)            \
  OP(attention_quantises)           \
  OP(quantised_attention_type)      \
  OP(cache_rows)                    \
  OP(cached_attention)              \
  OP(inference_attention)           \
  OP(inference_linear)              \
  OP(inference_layer_norm)

// The ops that only a device has, null in the CPU's table. The CPU's optimizers are loops of worker/train.
#define PODIUM_DEVICE_OPS(OP)       \
  OP(narrow_weights)                \
  OP(linear_prepare)                \
  OP(float8_linear_prepare)         \
  OP(linear_gelu_forward)           \
  OP(sum_of_squares)                \
  OP(adamw)                         \
  OP(lamb_direction)                \
  OP(lamb_scales)                   \
  OP(lamb_step)
// clang-format on

// Applied to the lists: the table's members, a back end's declarations, and the initialisers of the members.
#define PODIUM_OP_MEMBER(name) decltype(ops::name)* name = nullptr;
#define PODIUM_DECLARE_OP(name) decltype(ops::name) name;
#define PODIUM_INITIALISE_OP(name) .name = name,

namespace podium::ops {

struct Backend {
  // The host can read ids, labels, lengths and row numbers, so the ops check their values.
  bool host_reads_integers = false;
  // The result of a product in 16 bits may have more columns than the weight has rows (linear.h).
  bool pads_columns = false;
  // gelu_forward replaces x by the slope; else it leaves x as it is (gelu.h).
  bool keeps_gelu_slope = false;
  // attention_forward saves the probabilities, which take so much memory that backward may rather compute
  // them again (attention.h).
  bool keeps_probabilities = false;
  // The type of activations between products in 8 bits.
  DType quantised_activations = DType::f32;

  PODIUM_OPS(PODIUM_OP_MEMBER)
  PODIUM_DEVICE_OPS(PODIUM_OP_MEMBER)

  // How the algorithms of products are chosen by time; null where each product has but one.

  // The library that computes products, and its version.
  std::string (*product_library)(Context& context) = nullptr;
  // For so long (0 or more), or until the end is asked for, products that come up for the first time are
  // computed by the fastest of several ways, which computes them, and adds to sums, several times over. Which
  // way each of them took is told at the end, as JSON (worker/ops/cuda/product_choices.h).
  void (*begin_timing_products)(Context& context, double seconds) = nullptr;
  nlohmann::json (*end_timing_products)(Context& context) = nullptr;
  // Takes such choices from now on. Throws std::exception where they cannot be read, and takes none.
  void (*choose_products)(Context& context, const nlohmann::json& choices) = nullptr;
};

namespace cpu {
extern const Backend kBackend;
}

// The context's back end.
inline const Backend& backend(const Context& context) {
  return context.backend == nullptr ? cpu::kBackend : *context.backend;
}

}  // namespace podium::ops
