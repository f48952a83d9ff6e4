#include "coordinator/store/chunks/integers.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "coordinator/store/chunks/point.h"

namespace podium {
namespace {

constexpr std::size_t kBlock = kPointsInBlock;
constexpr int kMostOrder = 2;            // differences of differences
constexpr std::size_t kMostPatched = 4;  // on either side of a block's range
constexpr std::uint8_t kAsBefore = 65;   // in place of a width: none, and the base of the block before
constexpr std::uint8_t kRough = 0x80;    // beside a width: the base in units of 2^(width - kFineBits)
constexpr int kFineBits = 6;
constexpr std::size_t kLeastPatch = 16;  // bits: its place and its distance

using Words =
    std::array<std::uint64_t, kBlock + 1>;  // of a block at any width, and one that reading may touch

// All arithmetic is modulo 2^64, so that no difference overflows.
std::vector<std::uint64_t> differences(const std::vector<std::uint64_t>& values) {
  std::vector<std::uint64_t> all(values.size());
  if (!values.empty()) all[0] = values[0];
  for (std::size_t at = 1; at < values.size(); ++at) all[at] = values[at] - values[at - 1];
  return all;
}

constexpr std::uint64_t mask_of(int width) {
  return width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
}

// How a block is packed: what lies within `width` bits above `base` in place, the rest as patches.
struct Plan {
  int width = 64;
  std::uint64_t base = 0;
  std::size_t bits = SIZE_MAX;
  bool rough = false;  // the base can be told in larger units: it takes few bytes even where it is noise

  bool fits(std::uint64_t value) const { return value - base <= mask_of(width); }
  bool is_constant() const { return width == 0; }
  std::uint64_t told_base() const {
    const auto whole = static_cast<std::int64_t>(base);
    return zigzag(rough ? whole >> (width - kFineBits) : whole);
  }
};

// The lowest and the highest of a block, the outermost first.
struct Ends {
  std::array<std::int64_t, kMostPatched + 1> low, high;
  std::size_t count = 0;
};

Ends ends_of(std::span<const std::uint64_t> block) {
  Ends ends;
  ends.count = std::min(block.size(), kMostPatched + 1);
  ends.low.fill(INT64_MAX);
  ends.high.fill(INT64_MIN);
  for (const std::uint64_t word : block) {
    const auto value = static_cast<std::int64_t>(word);
    for (std::size_t i = ends.count; i-- > 0 && value < ends.low[i];) {
      if (i + 1 < ends.count) ends.low[i + 1] = ends.low[i];
      ends.low[i] = value;
    }
    for (std::size_t i = ends.count; i-- > 0 && value > ends.high[i];) {
      if (i + 1 < ends.count) ends.high[i + 1] = ends.high[i];
      ends.high[i] = value;
    }
  }
  return ends;
}

std::size_t patch_bits(std::int64_t value, std::uint64_t base) {
  const auto distance = static_cast<std::int64_t>(static_cast<std::uint64_t>(value) - base);
  return 8 * static_cast<std::size_t>(1 + varint_size(zigzag(distance)));
}

// With the `below` lowest and the `above` highest apart.
// Nothing where that takes `most` bits or more.
Plan plan_with(const Ends& ends, std::size_t size, std::size_t below, std::size_t above, std::size_t most) {
  if (ends.low[below] > ends.high[above]) return {};
  const auto high = static_cast<std::uint64_t>(ends.high[above]);
  Plan plan;
  plan.base = static_cast<std::uint64_t>(ends.low[below]);
  plan.width = std::bit_width(high - plan.base);
  const std::size_t least = size * static_cast<std::size_t>(plan.width) + (below + above) * kLeastPatch;
  if (least >= most) return {};
  if (plan.width > kFineBits) {
    const std::uint64_t rough = plan.base & ~mask_of(plan.width - kFineBits);
    plan.rough = high - rough <= mask_of(plan.width);
    if (plan.rough) plan.base = rough;
  }
  plan.bits = size * static_cast<std::size_t>(plan.width) +
              8 * static_cast<std::size_t>(varint_size(plan.told_base()));
  for (std::size_t i = 0; i < below; ++i) plan.bits += patch_bits(ends.low[i], plan.base);
  for (std::size_t i = 0; i < above; ++i) plan.bits += patch_bits(ends.high[i], plan.base);
  return plan;
}

Plan plan_of(std::span<const std::uint64_t> block) {
  const auto differs = [&block](std::uint64_t value) { return value != block.front(); };
  if (std::ranges::none_of(block, differs)) return {.width = 0, .base = block.front(), .bits = 0};
  const Ends ends = ends_of(block);
  Plan best;
  for (std::size_t below = 0; below < ends.count; ++below)
    for (std::size_t above = 0; below + above < ends.count; ++above)
      if (const Plan plan = plan_with(ends, block.size(), below, above, best.bits); plan.bits < best.bits)
        best = plan;
  return best;
}

template <class Visit>
void for_each_block(std::size_t count, const Visit& visit) {
  for (std::size_t at = 0; at < count; at += kBlock) visit(at, std::min(kBlock, count - at));
}

// About how many bits they take: as if no block had patches. What differences begin with is left out.
std::size_t rough_bits(std::span<const std::uint64_t> values) {
  std::size_t bits = 0;
  for_each_block(values.size(), [&](std::size_t at, std::size_t size) {
    auto low = INT64_MAX, high = INT64_MIN;
    for (std::size_t i = std::max<std::size_t>(at, kMostOrder); i < at + size; ++i) {
      low = std::min(low, static_cast<std::int64_t>(values[i]));
      high = std::max(high, static_cast<std::int64_t>(values[i]));
    }
    if (low < high)
      bits += size * static_cast<std::size_t>(
                         std::bit_width(static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low)));
  });
  return bits;
}

struct Column {
  int order = 0;
  std::vector<std::uint64_t> values;  // differences of this order
};

// Of the orders the one that seems to take least.
Column column_of(std::span<const std::int64_t> values) {
  Column best{0, {values.begin(), values.end()}};
  std::size_t least = rough_bits(best.values);
  std::vector<std::uint64_t> column;
  for (int order = 1; order <= kMostOrder && least > 0; ++order) {
    column = differences(order == 1 ? best.values : column);
    const std::size_t bits = rough_bits(column);
    if (bits >= least) continue;
    least = bits;
    best = {order, column};
  }
  return best;
}

constexpr std::size_t packed_size(std::size_t count, int width) {
  return (count * static_cast<std::size_t>(width) + 7) / 8;
}

void pack_block(std::span<const std::uint64_t> block, const Plan& plan, std::string& out) {
  Words words{};
  std::string patches;
  std::size_t patched = 0;
  for (std::size_t i = 0; i < block.size(); ++i) {
    const std::uint64_t distance = block[i] - plan.base;
    if (!plan.fits(block[i])) {
      ++patched;
      patches.push_back(static_cast<char>(i));
      put_varint(patches, zigzag(static_cast<std::int64_t>(distance)));
      continue;
    }
    if (plan.width == 0) continue;
    const std::size_t bit = i * static_cast<std::size_t>(plan.width);
    const std::size_t shift = bit % 64;
    words[bit / 64] |= distance << shift;
    if (shift > 0) words[bit / 64 + 1] |= distance >> (64 - shift);
  }
  out.push_back(static_cast<char>(plan.width | (plan.rough ? kRough : 0)));
  out.push_back(static_cast<char>(patched));
  put_varint(out, plan.told_base());
  out.append(reinterpret_cast<const char*>(words.data()), packed_size(block.size(), plan.width));
  out += patches;
}

void unpack_block(ByteReader& in, int width, std::uint64_t base, std::span<std::int64_t> block) {
  Words words{};
  const std::string_view bytes = in.take(packed_size(block.size(), width));
  if (!bytes.empty()) std::memcpy(words.data(), bytes.data(), bytes.size());
  const std::uint64_t mask = mask_of(width);
  std::size_t bit = 0;
  for (std::int64_t& value : block) {
    const std::size_t word = bit / 64, shift = bit % 64;
    // Shifted in two steps, for a shift by 64 means nothing.
    const std::uint64_t distance = (words[word] >> shift) | (words[word + 1] << 1 << (63 - shift));
    value = static_cast<std::int64_t>(base + (distance & mask));
    bit += static_cast<std::size_t>(width);
  }
}

void patch_block(ByteReader& in, std::size_t patched, std::uint64_t base, std::span<std::int64_t> block) {
  for (std::size_t i = 0; i < patched && in.whole(); ++i) {
    const std::size_t at = in.byte();
    const auto distance = static_cast<std::uint64_t>(unzigzag(in.varint()));
    if (at >= block.size()) return in.damaged();
    block[at] = static_cast<std::int64_t>(base + distance);
  }
}

void sum_up(std::vector<std::int64_t>& values) {
  std::uint64_t sum = 0;
  for (std::int64_t& value : values) {
    sum += static_cast<std::uint64_t>(value);
    value = static_cast<std::int64_t>(sum);
  }
}

}  // namespace

void pack_integers(std::span<const std::int64_t> values, std::string& out) {
  const Column column = column_of(values);
  out.push_back(static_cast<char>(column.order));
  Plan before;
  for_each_block(values.size(), [&](std::size_t at, std::size_t size) {
    const auto block = std::span(column.values).subspan(at, size);
    const Plan plan = plan_of(block);
    const bool same = plan.is_constant() && before.is_constant() && plan.base == before.base &&
                      std::ranges::all_of(block, [&](std::uint64_t value) { return plan.fits(value); });
    if (same)
      out.push_back(static_cast<char>(kAsBefore));
    else
      pack_block(block, plan, out);
    before = plan;
  });
}

std::vector<std::int64_t> unpack_integers(ByteReader& in, std::size_t count) {
  std::vector<std::int64_t> values(count);
  const int order = in.byte();
  if (order > kMostOrder) in.damaged();
  std::uint64_t base = 0;
  for_each_block(count, [&](std::size_t at, std::size_t size) {
    if (!in.whole()) return;
    const auto block = std::span(values).subspan(at, size);
    const std::uint8_t head = in.byte();
    const int width = head & ~kRough;
    if (width == kAsBefore) {
      std::ranges::fill(block, static_cast<std::int64_t>(base));
      return;
    }
    const bool rough = (head & kRough) != 0;
    if (width > 64 || (rough && width <= kFineBits)) return in.damaged();
    const std::size_t patched = in.byte();
    base = static_cast<std::uint64_t>(unzigzag(in.varint())) << (rough ? width - kFineBits : 0);
    unpack_block(in, width, base, block);
    patch_block(in, patched, base, block);
  });
  for (int i = 0; i < order && in.whole(); ++i) sum_up(values);
  return values;
}

}  // namespace podium
