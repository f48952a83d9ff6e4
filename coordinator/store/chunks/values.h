// Doubles packed as integers, bit by bit the same when they are unpacked: as decimals where a program told
// few digits (after Afroozeh et al., SIGMOD 2023), else as their bits in numerical order, less the zeros that
// all end in, as those of floats do.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "coordinator/store/chunks/bytes.h"

namespace podium {

void pack_values(std::span<const double> values, std::string& out);

// `count` of them, whatever the bytes are; those of damaged ones mean nothing.
std::vector<double> unpack_values(ByteReader& in, std::size_t count);

}  // namespace podium
