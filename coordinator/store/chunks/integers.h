// Integers packed in blocks of 64: of each its distance from the block's base, in as many bits as the block
// needs, and those few that would need many more apart (frames of reference with patches: Zukowski et al.,
// ICDE 2006). What is packed are the integers, their differences or the differences of those, whichever
// takes least: steps that follow each other take next to nothing, noise no more than its bits.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "coordinator/store/chunks/bytes.h"

namespace podium {

void pack_integers(std::span<const std::int64_t> values, std::string& out);

// `count` of them, whatever the bytes are; those of damaged ones mean nothing.
std::vector<std::int64_t> unpack_integers(ByteReader& in, std::size_t count);

}  // namespace podium
