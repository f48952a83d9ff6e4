#include "worker/serve/served_model.h"

#include <algorithm>
#include <array>

namespace podium {
namespace {

// A text of unknown words around a mask.
TextSequence made_up_sequence(int length, const LoadedModel& model) {
  const SpecialTokens& special = model.tokenizer->special();
  TextSequence sequence;
  sequence.ids.assign(static_cast<std::size_t>(length), special.pad);
  sequence.ids.front() = special.classify;
  sequence.ids.back() = special.separator;
  sequence.types.assign(sequence.ids.size(), 0);
  if (model.weights.prediction && length > 2) {
    sequence.ids[1] = special.mask;
    sequence.masked = {1};
  }
  return sequence;
}

}  // namespace

ServedModel::ServedModel(std::filesystem::path folder, std::unique_ptr<LoadedModel> loaded,
                         const BatchRules& rules, ServeMeter& meter)
    : folder_(std::move(folder)), loaded_(std::move(loaded)), passes_(*loaded_) {
  warm_up(rules);
  engine_ = std::make_unique<BatchEngine>([this](HeadPass pass, std::span<const TextSequence> sequences,
                                                 int top) { return passes_.compute(pass, sequences, top); },
                                          rules, meter);
}

// A short and a long text alone, and a full batch, twice each: a device records a shape the second time.
void ServedModel::warm_up(const BatchRules& rules) {
  constexpr int kShort = 16;
  const int most = loaded_->weights.spec.max_positions;
  const int full = std::clamp(rules.max_tokens / most, 1, rules.max_sequences);
  for (const auto& [count, length] : {std::pair{1, std::min(kShort, most)}, {1, most}, {full, most}}) {
    const std::vector<TextSequence> batch(static_cast<std::size_t>(count),
                                          made_up_sequence(length, *loaded_));
    for (int time = 0; time < 2; ++time) {
      passes_.compute(HeadPass::text, batch, 1);
      if (loaded_->weights.span) passes_.compute(HeadPass::span, batch, 1);
    }
  }
}

}  // namespace podium
