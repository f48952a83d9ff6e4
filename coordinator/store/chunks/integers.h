// Packs integers in blocks of 64: each as its distance from the block's base, in as many bits as the block
// needs, and the few that would need many more bits apart (frames of reference with patches: Zukowski et al.,
// ICDE 2006). It packs the integers, their differences or their second differences, whichever is smallest:
// consecutive steps take almost nothing, noise no more than its bits.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "coordinator/store/chunks/bytes.h"

namespace podium {

void pack_integers(std::span<const std::int64_t> values, std::string& out);

// Always returns `count` integers; those of damaged bytes are meaningless.
std::vector<std::int64_t> unpack_integers(ByteReader& in, std::size_t count);

}  // namespace podium
