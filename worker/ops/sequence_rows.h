// Where the rows of each sequence lie in a tensor [rows, columns].
#pragma once

#include <cstdint>
#include <span>

#include "worker/tensor/context.h"

namespace podium::ops {

// The arrays lie where the tensors do.
struct SequenceRows {
  std::int64_t sequences = 0;
  std::int64_t length = 0;                           // of each, with padding; without `begins`
  std::span<const std::int32_t> valid_lengths = {};  // [sequences]; empty: there is no padding
  // [sequences + 1]: sequence s has the rows from begins[s] up to begins[s + 1], all of them valid. Rows from
  // the last one on belong to none.
  std::span<const std::int32_t> begins = {};
};

// Rows [begin, valid_end) are a sequence's, rows up to `end` are padding behind it.
struct RowsOfOne {
  std::int64_t begin, valid_end, end;
};

// On the host. The last sequence has what is behind it, too.
RowsOfOne rows_of(const SequenceRows& rows, std::int64_t sequence, std::int64_t all_rows);

// That they lie within `all_rows`, and each sequence has some, as far as the host can see.
void check_sequence_rows(const Context& context, const SequenceRows& rows, std::int64_t all_rows);

}  // namespace podium::ops
