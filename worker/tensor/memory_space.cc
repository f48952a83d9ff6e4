#include "worker/tensor/memory_space.h"

#include <cstring>

namespace podium {

void MemorySpace::copy(void* to, const void* from, std::size_t bytes) const {
  if (bytes == 0) return;
  if (on_host())
    std::memcpy(to, from, bytes);
  else
    stream->copy(to, from, bytes);
}

void MemorySpace::clear(void* memory, std::size_t bytes) const {
  if (bytes == 0) return;
  if (on_host())
    std::memset(memory, 0, bytes);
  else
    stream->clear(memory, bytes);
}

void MemorySpace::synchronise() const {
  if (!on_host()) stream->synchronise();
}

void MemorySpace::upload(void* to, const void* from, std::size_t bytes) const {
  copy(to, from, bytes);
  synchronise();
}

void MemorySpace::download(void* to, const void* from, std::size_t bytes) const {
  copy(to, from, bytes);
  synchronise();
}

}  // namespace podium
