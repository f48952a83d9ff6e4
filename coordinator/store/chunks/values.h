// Packs doubles as integers, without loss of a bit: as decimals where the values have few digits (after
// Afroozeh et al., SIGMOD 2023), else as their bits in numerical order, without the trailing zeros that all
// have, such as those of floats.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "coordinator/store/chunks/bytes.h"

namespace podium {

void pack_values(std::span<const double> values, std::string& out);

// Always returns `count` values; those of damaged bytes are meaningless.
std::vector<double> unpack_values(ByteReader& in, std::size_t count);

}  // namespace podium
