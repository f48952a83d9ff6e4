#include "worker/tensor/tensor.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace podium {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

std::size_t round_up(std::size_t bytes, std::size_t multiple) {
  return (bytes + multiple - 1) / multiple * multiple;
}

template <class View>
View reshaped(View view, const Shape& shape) {
  PODIUM_CHECK(view.size() == shape.size(), "a reshape keeps the number of elements");
  view.shape = shape;
  return view;
}

template <class View, class Byte>
View rows_of(View view, std::int64_t begin, std::int64_t count) {
  const Shape& s = view.shape;
  PODIUM_CHECK(s.rank() > 0 && begin >= 0 && count >= 0 && begin + count <= s[0], "rows outside the tensor");
  const std::int64_t row_bytes = s[0] == 0 ? 0 : static_cast<std::int64_t>(view.bytes()) / s[0];
  view.address = static_cast<Byte*>(view.address) + begin * row_bytes;
  switch (s.rank()) {
    case 1:
      view.shape = Shape{count};
      break;
    case 2:
      view.shape = Shape{count, s[1]};
      break;
    case 3:
      view.shape = Shape{count, s[1], s[2]};
      break;
    default:
      view.shape = Shape{count, s[1], s[2], s[3]};
      break;
  }
  return view;
}

}  // namespace

TensorView reshape(const TensorView& view, const Shape& shape) { return reshaped(view, shape); }
ConstTensorView reshape(const ConstTensorView& view, const Shape& shape) { return reshaped(view, shape); }

TensorView rows(const TensorView& view, std::int64_t begin, std::int64_t count) {
  return rows_of<TensorView, std::byte>(view, begin, count);
}
ConstTensorView rows(const ConstTensorView& view, std::int64_t begin, std::int64_t count) {
  return rows_of<ConstTensorView, const std::byte>(view, begin, count);
}

void AlignedDelete::operator()(std::byte* memory) const { std::free(memory); }

AlignedBytes allocate_aligned(std::size_t bytes) {
  const bool large = bytes >= kHugePage;
  const std::size_t alignment = large ? kHugePage : kAlignment;
  const std::size_t size = std::max(round_up(bytes, alignment), alignment);
  void* memory = std::aligned_alloc(alignment, size);
  if (memory == nullptr) throw std::bad_alloc();
  if (large) madvise(memory, size, MADV_HUGEPAGE);  // a wish only: without huge pages all works, slower
  std::memset(memory, 0, size);
  return AlignedBytes(static_cast<std::byte*>(memory));
}

Tensor::Tensor(DType dtype, const Shape& shape)
    : memory_(allocate_aligned(static_cast<std::size_t>(shape.size()) * size_of(dtype))),
      dtype_(dtype),
      shape_(shape) {}

}  // namespace podium
