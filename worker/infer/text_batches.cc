#include "worker/infer/text_batches.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "worker/data/sentence_sequence.h"
#include "worker/input/bad_data.h"
#include "worker/input/utf8.h"
#include "worker/tensor/shape.h"

namespace podium {
namespace {

constexpr int kLengthMultiple = 16, kPredictionMultiple = 8;

// Up to three significant bits: at most a quarter more, and four shapes between a power of two and the next.
int rounded_sequences(int sequences) {
  const int step = static_cast<int>(std::bit_floor(static_cast<unsigned>(sequences))) / 4;
  return static_cast<int>(rounded_up(sequences, std::max(1, step)));
}

}  // namespace

TextSequence encode_text(const WordPieceTokenizer& tokenizer, std::string_view first,
                         std::optional<std::string_view> second, const TextLimit& limit,
                         const std::string& origin) {
  const SpecialTokens& special = tokenizer.special();
  TextSequence sequence{.text = std::string(first)};
  if (second) sequence.text.append("\t").append(*second);
  if (find_invalid_utf8(sequence.text) != std::string::npos) throw BadData(origin + " is no UTF-8");
  SentenceTokens sentences{.is_pair = second.has_value()};
  tokenizer.encode(first, sentences.first);
  if (second) tokenizer.encode(*second, sentences.second);
  sequence.cut = sentences.length() > limit.tokens;
  if (sequence.cut && (!limit.cut || limit.tokens < sentences.special_tokens()))
    throw BadData(fmt::format("{} has {} tokens and the model takes at most {}: split the text", origin,
                              sentences.length(), limit.tokens));
  append_sequence(std::move(sentences), limit.tokens, special, sequence.ids, sequence.types);
  for (int i = 0; i < sequence.length(); ++i)
    if (sequence.ids[static_cast<std::size_t>(i)] == special.mask) sequence.masked.push_back(i);
  return sequence;
}

bool has_empty_part(const TextSequence& sequence) {
  const auto second = std::ranges::count(sequence.types, 1), first = std::ssize(sequence.types) - second;
  return first <= 2 || second == 1;  // [CLS] and [SEP]; [SEP]
}

TextSequence encode_line(const WordPieceTokenizer& tokenizer, std::string_view line, int most,
                         const std::string& origin) {
  const std::size_t tab = line.find('\t');
  std::optional<std::string_view> second;
  if (tab != std::string_view::npos) second = line.substr(tab + 1);
  return encode_text(tokenizer, line.substr(0, tab), second, {.tokens = most}, origin);
}

SessionShape shape_of(std::span<const TextSequence> sequences, int most) {
  SessionShape shape{.sequences = rounded_sequences(static_cast<int>(sequences.size())), .length = 1};
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
