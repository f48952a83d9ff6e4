#include "worker/ops/sequence_rows.h"

#include "common/base/check.h"
#include "worker/ops/backend.h"

namespace podium::ops {

RowsOfOne rows_of(const SequenceRows& rows, std::int64_t sequence, std::int64_t all_rows) {
  const auto at = static_cast<std::size_t>(sequence);
  const bool last = sequence + 1 == rows.sequences;
  if (!rows.begins.empty())
    return {rows.begins[at], rows.begins[at + 1], last ? all_rows : rows.begins[at + 1]};
  const std::int64_t begin = sequence * rows.length;
  return {begin, begin + (rows.valid_lengths.empty() ? rows.length : rows.valid_lengths[at]),
          last ? all_rows : begin + rows.length};
}

void check_sequence_rows(const Context& context, const SequenceRows& rows, std::int64_t all_rows) {
  PODIUM_CHECK(rows.begins.empty() || std::ssize(rows.begins) == rows.sequences + 1,
               "a begin for every sequence and one behind the last, or none");
  PODIUM_CHECK(rows.valid_lengths.empty() || std::ssize(rows.valid_lengths) == rows.sequences,
               "one valid length a sequence, or none");
  PODIUM_CHECK(!rows.begins.empty() || rows.sequences * rows.length <= all_rows,
               "there is a row for every position");
  if (!backend(context).host_reads_integers) return;
  PODIUM_CHECK(rows.begins.empty() || rows.begins.back() <= all_rows, "there is a row for every position");
  for (std::int64_t s = 0; s < rows.sequences; ++s) {
    const RowsOfOne own = rows_of(rows, s, all_rows);
    PODIUM_CHECK(own.valid_end > own.begin, "every sequence has valid rows");
  }
}

}  // namespace podium::ops
