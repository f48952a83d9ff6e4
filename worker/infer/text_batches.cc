#include "worker/infer/text_batches.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "worker/input/bad_data.h"
#include "worker/input/utf8.h"
#include "worker/tensor/shape.h"

namespace podium {
namespace {

constexpr int kLengthMultiple = 16, kPredictionMultiple = 8;

}  // namespace

TextSequence encode_line(const WordPieceTokenizer& tokenizer, std::string_view line, int most,
                         const std::string& origin) {
  if (find_invalid_utf8(line) != std::string_view::npos) throw BadData(origin + " is no UTF-8");
  const SpecialTokens& special = tokenizer.special();
  TextSequence sequence{.text = std::string(line), .ids = {special.classify}};
  const std::size_t tab = line.find('\t');
  tokenizer.encode(line.substr(0, tab), sequence.ids);
  sequence.ids.push_back(special.separator);
  sequence.types.assign(sequence.ids.size(), 0);
  if (tab != std::string_view::npos) {
    tokenizer.encode(line.substr(tab + 1), sequence.ids);
    sequence.ids.push_back(special.separator);
    sequence.types.resize(sequence.ids.size(), 1);
  }
  if (sequence.length() > most)
    throw BadData(fmt::format("{} has {} tokens and the model takes at most {}: split the text", origin,
                              sequence.length(), most));
  for (int i = 0; i < sequence.length(); ++i)
    if (sequence.ids[static_cast<std::size_t>(i)] == special.mask) sequence.masked.push_back(i);
  return sequence;
}

SessionShape shape_of(std::span<const TextSequence> sequences, int most) {
  SessionShape shape{.sequences = static_cast<int>(sequences.size()), .length = 1};
  int masked = 0;
  for (const TextSequence& sequence : sequences) {
    shape.length = std::max(shape.length, sequence.length());
    masked += static_cast<int>(sequence.masked.size());
  }
  shape.length = std::min(most, static_cast<int>(rounded_up(shape.length, kLengthMultiple)));
  shape.predictions = static_cast<int>(rounded_up(masked, kPredictionMultiple));
  return shape;
}

InferenceBatch pack(std::span<const TextSequence> sequences, const SessionShape& shape,
                    const SpecialTokens& special) {
  const auto length = static_cast<std::size_t>(shape.length);
  const std::size_t count = static_cast<std::size_t>(shape.sequences) * length;
  InferenceBatch batch;
  batch.ids.assign(count, special.pad);
  batch.types.assign(count, 0);
  batch.valid_lengths.assign(static_cast<std::size_t>(shape.sequences), 1);
  for (std::size_t s = 0; s < sequences.size(); ++s) {
    const TextSequence& sequence = sequences[s];
    std::ranges::copy(sequence.ids, batch.ids.begin() + static_cast<std::ptrdiff_t>(s * length));
    std::ranges::copy(sequence.types, batch.types.begin() + static_cast<std::ptrdiff_t>(s * length));
    batch.valid_lengths[s] = sequence.length();
    for (const int position : sequence.masked)
      batch.masked_rows.push_back(static_cast<std::int32_t>(s * length) + position);
  }
  return batch;
}

}  // namespace podium
