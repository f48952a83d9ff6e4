#include "worker/tensor/tensor.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "worker/tensor/host_memory.h"

namespace podium {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

std::size_t round_up(std::size_t bytes, std::size_t multiple) {
  return (bytes + multiple - 1) / multiple * multiple;
}

// Pages lie near the processor whose thread first writes to them: each thread of the ops gets the part of a
// large block that it will be given in loops over all of it.
void clear(std::byte* memory, std::size_t bytes) {
  constexpr std::size_t kSharedOut = std::size_t{64} << 20;
  if (bytes < kSharedOut) {
    std::memset(memory, 0, bytes);
    return;
  }
#pragma omp parallel for schedule(static)
  for (std::size_t begin = 0; begin < bytes; begin += kHugePage)
    std::memset(memory + begin, 0, std::min(kHugePage, bytes - begin));
}

}  // namespace

void AlignedDelete::operator()(std::byte* memory) const {
  if (device != nullptr)
    device->free(memory);
  else
    std::free(memory);
}

AlignedBytes allocate_untouched(std::size_t bytes) {
  const bool large = bytes >= kHugePage;
  const std::size_t alignment = large ? kHugePage : kAlignment;
  const std::size_t size = std::max(round_up(bytes, alignment), alignment);
  void* memory = std::aligned_alloc(alignment, size);
  if (memory == nullptr) throw std::bad_alloc();
  if (large) madvise(memory, size, MADV_HUGEPAGE);  // a wish only: without huge pages all works, slower
  return AlignedBytes(static_cast<std::byte*>(memory), {});
}

AlignedBytes allocate_aligned(std::size_t bytes, Device* device) {
  if (device != nullptr)
    return AlignedBytes(static_cast<std::byte*>(device->allocate(std::max<std::size_t>(bytes, 1))), {device});
  AlignedBytes memory = allocate_untouched(bytes);
  clear(memory.get(), round_up(bytes, kAlignment));
  return memory;
}

Tensor::Tensor(DType dtype, const Shape& shape, Device* device)
    : memory_(allocate_aligned(static_cast<std::size_t>(shape.size()) * size_of(dtype), device)),
      dtype_(dtype),
      shape_(shape) {}

}  // namespace podium
