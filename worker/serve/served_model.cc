#include "worker/serve/served_model.h"

#include <algorithm>

namespace podium {
namespace {

// A text of unknown words around a mask.
TextSequence made_up_sequence(int length, const BertModel& model) {
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

// A short and a long text alone, and a full batch, twice each: a device records a shape the second time.
void warm_up(BertPasses& passes, const BertModel& model, const BatchRules& rules) {
  constexpr int kShort = 16;
  const int most = model.weights.spec.max_positions;
  const int full = std::clamp(rules.max_tokens / most, 1, rules.max_sequences);
  for (const auto& [count, length] : {std::pair{1, std::min(kShort, most)}, {1, most}, {full, most}}) {
    const std::vector<TextSequence> batch(static_cast<std::size_t>(count), made_up_sequence(length, model));
    const std::vector<int> tops(batch.size(), 1);
    const GiveResult drop = [](std::size_t, const SequenceResult&) {};
    for (int time = 0; time < 2; ++time) {
      passes.compute(HeadPass::text, batch, tops, drop);
      if (model.weights.span) passes.compute(HeadPass::span, batch, tops, drop);
      if (model.weights.classifier) passes.compute(HeadPass::classes, batch, tops, drop);
    }
  }
}

// A prompt in every slot, and three steps of all of them.
void warm_up(GenerationSession& session) {
  std::vector<GenerationSession::Next> next;
  for (int slot = 0; slot < session.slots(); ++slot) next.push_back({session.begin(std::vector{0})->slot, 0});
  for (int step = 0; step < std::min(3, session.positions() - 1); ++step) session.extend(next);
  for (const GenerationSession::Next& one : next) session.end(one.slot);
}

}  // namespace

ServedModel::ServedModel(std::filesystem::path folder, std::unique_ptr<LoadedModel> loaded,
                         const ServeRules& rules, std::shared_ptr<ServeMeter> meter)
    : folder_(std::move(folder)), loaded_(std::move(loaded)), meter_(std::move(meter)) {
  if (loaded_->bert)
    serve_bert(rules.batches);
  else
    serve_language(rules);
}

void ServedModel::serve_bert(const BatchRules& rules) {
  passes_.emplace(*loaded_->context, *loaded_->bert);
  warm_up(*passes_, *loaded_->bert, rules);
  const auto compute = [this](HeadPass pass, std::span<const TextSequence> sequences,
                              std::span<const int> tops,
                              const GiveResult& give) { passes_->compute(pass, sequences, tops, give); };
  batches_ = std::make_unique<BatchEngine>(compute, rules, *meter_);
}

void ServedModel::serve_language(const ServeRules& rules) {
  LanguageModel& model = *loaded_->language;
  session_ = std::make_unique<GenerationSession>(
      *loaded_->context, model.weights,
      CacheShape{.slots = rules.texts, .positions = std::min(rules.positions, loaded_->spec.max_positions)});
  warm_up(*session_);
  texts_ =
      std::make_unique<GenerationEngine>(*session_, *model.tokenizer, rules.batches.max_waiting, *meter_);
}

}  // namespace podium
