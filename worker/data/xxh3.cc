#include "worker/data/xxh3.h"

#include <xxhash.h>

#include <new>

namespace podium {

void Xxh3::Free::operator()(XXH3_state_s* state) const { XXH3_freeState(state); }

Xxh3::Xxh3() : state_(XXH3_createState()) {
  if (!state_) throw std::bad_alloc();
  XXH3_64bits_reset(state_.get());
}

void Xxh3::add(std::span<const std::byte> bytes) {
  XXH3_64bits_update(state_.get(), bytes.data(), bytes.size());
  bytes_ += static_cast<std::int64_t>(bytes.size());
}

FileDigest Xxh3::digest() const {
  XXH64_canonical_t canonical{};
  XXH64_canonicalFromHash(&canonical, XXH3_64bits_digest(state_.get()));
  FileDigest digest{bytes_, ""};
  for (const unsigned char byte : canonical.digest) {
    digest.xxh3 += "0123456789abcdef"[byte >> 4];
    digest.xxh3 += "0123456789abcdef"[byte & 15];
  }
  return digest;
}

}  // namespace podium
