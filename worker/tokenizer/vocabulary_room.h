// Whether a vocabulary fills the rows that a model has for tokens.
#pragma once

namespace podium {

// Vocabularies are padded for products and tensor ranks, by 128 rows for each of them at most. With fewer
// tokens than that the vocabulary is cut off, or another model's.
inline bool is_far_smaller(int tokens, int rows) {
  constexpr int kPadding = 1024;
  return rows - tokens > kPadding && rows - tokens > rows / 20;
}

}  // namespace podium
