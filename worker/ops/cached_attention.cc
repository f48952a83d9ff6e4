#include "worker/ops/cached_attention.h"

#include <algorithm>

#include "worker/ops/backend.h"
#include "worker/ops/check.h"
#include "worker/tensor/profiler.h"

namespace podium::ops {
namespace {

bool all_within(std::span<const std::int32_t> values, std::int64_t bound) {
  return std::ranges::all_of(values, [&](std::int32_t v) { return v >= 0 && v < bound; });
}

// Slots and positions in a device's memory are not looked at.
void check_cache(const Context& context, const CachedRows& rows, const ConstTensorView& x,
                 const ConstTensorView& keys, const ConstTensorView& values) {
  PODIUM_CHECK(rows.key_value_heads > 0 && rows.heads % rows.key_value_heads == 0,
               "groups of heads are of one size");
  PODIUM_CHECK(keys.shape.rank() == 4, "a cache has slots, heads, positions and columns");
  const std::int64_t slots = keys.shape[0], positions = keys.shape[2];
  check_tensor(x, x.dtype, Shape{x.shape[0], rows.projected()}, "the projection");
  check_tensor(keys, x.dtype, Shape{slots, rows.key_value_heads, positions, rows.head_size}, "cached keys");
  check_tensor(values, x.dtype, keys.shape, "cached values");
  PODIUM_CHECK(std::ssize(rows.slots) == x.shape[0] && std::ssize(rows.positions) == x.shape[0],
               "one slot and one position a row");
  if (rows.table.address != nullptr) {
    PODIUM_CHECK(rows.head_size % 2 == 0, "a head is turned by pairs of columns");
    check_tensor(rows.table, DType::f32, Shape{rows.table.shape[0], rows.head_size}, "the table of turns");
    PODIUM_CHECK(rows.table.shape[0] >= positions, "the table of turns has all positions of the cache");
  }
  if (!backend(context).host_reads_integers) {
    PODIUM_CHECK(rows.head_size <= kMaxDeviceCachedHead, "heads of more columns than a device takes");
    return;
  }
  PODIUM_CHECK(all_within(rows.slots, slots), "a slot outside the cache");
  PODIUM_CHECK(all_within(rows.positions, positions), "a position outside the cache");
}

}  // namespace

void cache_rows(Context& context, const CachedRows& rows, TensorView x, TensorView keys, TensorView values) {
  check_cache(context, rows, x, keys, values);
  const ProfileScope scope(context, "cache_rows", {.bytes = 2 * bytes_of(x)});
  backend(context).cache_rows(context, rows, x, keys, values);
}

void cached_attention(Context& context, const CachedRows& rows, ConstTensorView x, ConstTensorView keys,
                      ConstTensorView values, TensorView out) {
  check_cache(context, rows, x, keys, values);
  check_tensor(out, x.dtype, Shape{x.shape[0], rows.heads * rows.head_size}, "out");
  const ProfileScope scope(context, "cached_attention", {.bytes = bytes_of(x, out)});
  backend(context).cached_attention(context, rows, x, keys, values, out);
}

}  // namespace podium::ops
