// Causal attention of new rows over all rows of their sequences, of which the keys and values lie in a cache:
// text is read whole once and then goes on a token at a time. Heads may share keys and values (GQA), and
// positions may turn queries and keys (RoPE); formulas in attention.h and rotary_heads.h.
//
//   x [rows, (heads + 2 * key_value_heads) * d]             queries, keys and values side by side
//   keys, values [slots, key_value_heads, positions, d]     the cache
//   out [rows, heads * d]
//
// Each row names its slot and its position there. Rows of many sequences stand together in any order: all of
// a text that is read, one of a text that goes on. What a row gives does not depend on the rows beside it.
#pragma once

#include <cstdint>
#include <span>

#include "worker/tensor/context.h"
#include "worker/tensor/tensor.h"

namespace podium::ops {

// Columns of a head that a device takes.
inline constexpr std::int64_t kMaxDeviceCachedHead = 256;

struct CachedRows {
  std::int64_t heads = 0;
  std::int64_t key_value_heads = 0;  // divides heads
  std::int64_t head_size = 0;        // d
  // [rows] each; lie where the tensors do. No two rows have the same place.
  std::span<const std::int32_t> slots;
  std::span<const std::int32_t> positions;
  // rotary_table() of the cache's positions, f32 [positions, d]; without an address nothing is turned.
  ConstTensorView table = {};

  std::int64_t group() const { return heads / key_value_heads; }
  std::int64_t projected() const { return (heads + 2 * key_value_heads) * head_size; }
};

// Turns the queries of x where they are, and puts the keys, turned, and the values into the cache.
void cache_rows(Context& context, const CachedRows& rows, TensorView x, TensorView keys, TensorView values);

// Behind cache_rows() of the same rows: each attends to the positions of its slot up to its own, which all
// have been cached.
void cached_attention(Context& context, const CachedRows& rows, ConstTensorView x, ConstTensorView keys,
                      ConstTensorView values, TensorView out);

}  // namespace podium::ops
