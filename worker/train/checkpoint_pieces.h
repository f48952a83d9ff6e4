// Which part of a full parameter a process holds or a file stores, and how to move elements from any part to
// any other. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "worker/nn/parameters.h"

namespace podium {

// What a tensor-parallel rank holds of a full tensor: indices [begin, begin + extent) of one axis; all of it
// where axis is -1. Elements are numbered row-major within the box.
struct Box {
  std::vector<std::int64_t> full;  // shape of the whole tensor
  int axis = -1;
  std::int64_t begin = 0;
  std::int64_t extent = 0;

  std::int64_t size() const;
  std::vector<std::int64_t> shape() const;
};

// Elements [first, last) of a parameter's box.
struct Piece {
  std::string parameter;
  Box box;
  std::int64_t first = 0;
  std::int64_t last = 0;

  bool is_whole_box() const { return first == 0 && last == box.size(); }
};

// Copies what both pieces cover. `from` and `to` hold exactly their pieces' elements. Returns how many were copied.
std::int64_t copy_common(const Piece& from_piece, std::span<const float> from, const Piece& to_piece,
                         std::span<float> to);

}  // namespace podium
