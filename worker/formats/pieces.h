// Which part of each full parameter a process holds or a file stores, and how elements get from any part to
// any other. Pure.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "worker/nn/parameters.h"

namespace podium {

// What a tensor-parallel rank holds of a full tensor: indices [begin, begin + extent) of one axis; all of it
// where axis is -1. Its elements are numbered row-major.
struct Box {
  std::vector<std::int64_t> full;  // shape of the whole tensor
  int axis = -1;
  std::int64_t begin = 0;
  std::int64_t extent = 0;

  std::vector<std::int64_t> shape() const;
  std::int64_t size() const;

  bool operator==(const Box&) const = default;
};

Box box_of(const Parameter& parameter);
Box whole_box(std::vector<std::int64_t> shape);

// Elements [first, last) of a parameter's box.
struct Piece {
  std::string parameter;
  Box box;
  std::int64_t first = 0;
  std::int64_t last = 0;

  std::int64_t size() const { return last - first; }
  bool operator==(const Piece&) const = default;
};

Piece whole_piece(const Parameter& parameter);

// A run of elements that two pieces of one parameter have in common; positions count from each piece's first.
struct CommonRun {
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::int64_t count = 0;
};
std::vector<CommonRun> common_runs(const Piece& from, const Piece& to);
// `memory`: where `to` lies.
void copy_runs(std::span<const CommonRun> runs, std::span<const float> from, std::span<float> to,
               const MemorySpace& memory = {});

nlohmann::json to_json(const Piece& piece);
// Throws std::exception where `json` is no piece, or one that lies outside of its parameter.
Piece piece_from_json(const nlohmann::json& json);

}  // namespace podium
