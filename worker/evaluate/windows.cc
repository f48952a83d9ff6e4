#include "worker/evaluate/windows.h"

#include <algorithm>

#include "worker/nn/pretraining_head.h"

namespace podium {

std::int64_t window_count(std::int64_t tokens, const WindowRule& rule) {
  const std::int64_t predicted = tokens - 1;
  if (predicted <= 0) return 0;
  const std::int64_t behind_first = std::max<std::int64_t>(0, predicted - rule.length);
  return 1 + (behind_first + rule.stride - 1) / rule.stride;
}

MicroBatch windows_of(std::span<const std::int32_t> ids, const WindowRule& rule, std::int64_t begin,
                      std::int64_t end, std::int32_t pad) {
  MicroBatch batch;
  batch.sequences = static_cast<int>(end - begin);
  batch.length = rule.length;
  batch.input_ids.assign(static_cast<std::size_t>(batch.sequences) * static_cast<std::size_t>(rule.length),
                         pad);
  Targets& tokens = batch.targets[kLanguageTerm];
  for (std::int64_t window = begin; window < end; ++window) {
    const std::int64_t first = window * rule.stride;
    const auto read =
        static_cast<std::int32_t>(std::min<std::int64_t>(rule.length, std::ssize(ids) - 1 - first));
    const auto row = static_cast<std::int32_t>(window - begin) * rule.length;
    std::copy_n(ids.begin() + first, read, batch.input_ids.begin() + row);
    for (std::int32_t column = window == 0 ? 0 : rule.length - rule.stride; column < read; ++column) {
      tokens.positions.push_back(row + column);
      tokens.labels.push_back(ids[static_cast<std::size_t>(first + column + 1)]);
    }
    batch.valid_lengths.push_back(read);
  }
  return batch;
}

}  // namespace podium
