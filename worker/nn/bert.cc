#include "worker/nn/bert.h"

#include <cstring>
#include <deque>
#include <optional>
#include <stdexcept>
#include <string>

#include "worker/nn/bert_embeddings.h"
#include "worker/nn/bert_heads.h"
#include "worker/nn/bert_layer.h"

namespace podium {
namespace {

DType compute_type(Precision precision) {
  switch (precision) {
    case Precision::fp32:
      return DType::f32;
    case Precision::bf16:
      return DType::bf16;
    case Precision::fp16:
      break;
  }
  throw std::invalid_argument("precision fp16 is not available on the CPU: use bf16 or fp32");
}

void require(bool condition, const std::string& message) {
  if (!condition) throw std::invalid_argument("BERT: " + message);
}

void check_spec(const ModelSpec& spec, int sequence_length) {
  require(spec.family == ModelFamily::bert, "the model family must be bert");
  require(spec.layers > 0 && spec.hidden > 0 && spec.heads > 0 && spec.intermediate > 0 && spec.vocab > 0,
          "layers, hidden, heads, intermediate and vocab must be positive");
  require(spec.hidden % spec.heads == 0, "hidden " + std::to_string(spec.hidden) +
                                             " must be a multiple of heads " + std::to_string(spec.heads));
  require(spec.hidden % 16 == 0, "hidden " + std::to_string(spec.hidden) + " must be a multiple of 16");
  require(sequence_length > 0 && sequence_length <= spec.max_positions,
          "sequence length " + std::to_string(sequence_length) + " must lie within max_positions " +
              std::to_string(spec.max_positions));
}

}  // namespace

class BertForPretraining::Impl {
 public:
  Impl(Context& context, const ModelSpec& spec, int sequence_length, Precision precision)
      : context_(context),
        spec_(spec),
        length_(sequence_length),
        compute_(compute_type(precision)),
        embeddings_(store_, spec) {
    layer_begins_.push_back(store_.end());
    for (int i = 0; i < spec.layers; ++i) {
      layers_.emplace_back(store_, spec, i);
      layer_begins_.push_back(store_.end());
    }
    masked_head_.emplace(store_, spec, embeddings_.word());
    sentence_head_.emplace(store_, spec);
    store_.allocate();
  }

  ParameterStore& parameters() { return store_; }

  BertResult run(const BertBatch& batch, bool training, const DropoutKey& key, float mlm_scale,
                 float nsp_scale, const GradientsReady& ready) {
    check_batch(batch);
    arena_.reset();
    const Step step{.context = context_,
                    .arena = arena_,
                    .compute = compute_,
                    .sequences = batch.sequences,
                    .length = batch.length,
                    .valid_lengths = batch.valid_lengths,
                    .training = training,
                    .dropout_key = philox_key(key.seed, static_cast<std::uint64_t>(key.step)),
                    .sample_base = key.sample_base};
    const ops::EmbeddingInput input{batch.input_ids, batch.token_types, batch.length};

    TensorView encoded = embeddings_.forward(step, input);
    for (BertLayer& layer : layers_) encoded = layer.forward(step, encoded);

    TensorView gradient;
    if (training) {
      gradient = step.activation(step.rows(), spec_.hidden);
      std::memset(gradient.address, 0, gradient.bytes());
    }
    const auto masked =
        masked_head_->run(step, encoded, batch.masked_positions, batch.masked_labels, {mlm_scale, gradient});
    const auto sentence =
        sentence_head_->run(step, encoded, batch.next_sentence_labels, {nsp_scale, gradient});
    if (training) backward(step, input, gradient, ready);
    return {masked.loss, sentence.loss, masked.rows, masked.correct, sentence.rows, sentence.correct};
  }

  double training_flops(int sequences, std::int64_t masked_positions) const {
    const double rows = static_cast<double>(sequences) * length_, hidden = spec_.hidden;
    const double layer = rows * hidden * (8 * hidden + 4 * spec_.intermediate + 4 * length_);
    const double masked_head =
        static_cast<double>(masked_positions) * hidden * (2 * hidden + 2 * spec_.vocab);
    const double sentence_head = sequences * 2 * hidden * (hidden + 2);
    return 3 * (spec_.layers * layer + masked_head + sentence_head);
  }

 private:
  void backward(const Step& step, const ops::EmbeddingInput& input, TensorView gradient,
                const GradientsReady& ready) {
    const auto announce = [&](std::int64_t begin, std::int64_t end) {
      if (ready) ready(begin, end);
    };
    announce(layer_begins_.back(), store_.end());
    for (std::size_t i = layers_.size(); i-- > 0;) {
      layers_[i].backward(step, gradient);
      announce(layer_begins_[i], layer_begins_[i + 1]);
    }
    embeddings_.backward(step, input, gradient);
    announce(0, layer_begins_.front());
  }

  void check_batch(const BertBatch& batch) const {
    const auto tokens = static_cast<std::size_t>(batch.sequences) * static_cast<std::size_t>(batch.length);
    const auto sequences = static_cast<std::size_t>(batch.sequences);
    PODIUM_CHECK(batch.sequences > 0 && batch.length == length_, "a batch has the model's sequence length");
    PODIUM_CHECK(batch.input_ids.size() == tokens && batch.token_types.size() == tokens,
                 "one id and one type a position");
    PODIUM_CHECK(batch.valid_lengths.size() == sequences && batch.next_sentence_labels.size() == sequences,
                 "one valid length and one next-sentence label a sequence");
    PODIUM_CHECK(batch.masked_positions.size() == batch.masked_labels.size(), "one label a masked position");
  }

  Context& context_;
  ModelSpec spec_;
  int length_;
  DType compute_;
  ParameterStore store_;
  BertEmbeddings embeddings_;
  std::deque<BertLayer> layers_;
  std::vector<std::int64_t>
      layer_begins_;  // in the flat buffers; one more than layers: where the heads begin
  std::optional<MaskedLanguageHead> masked_head_;
  std::optional<NextSentenceHead> sentence_head_;
  Arena arena_;
};

BertForPretraining::BertForPretraining(Context& context, const ModelSpec& spec, int sequence_length,
                                       Precision precision) {
  check_spec(spec, sequence_length);
  impl_ = std::make_unique<Impl>(context, spec, sequence_length, precision);
}

BertForPretraining::~BertForPretraining() = default;

ParameterStore& BertForPretraining::parameters() { return impl_->parameters(); }

BertResult BertForPretraining::forward_backward(const BertBatch& batch, float mlm_scale, float nsp_scale,
                                                const DropoutKey& key, const GradientsReady& ready) {
  return impl_->run(batch, true, key, mlm_scale, nsp_scale, ready);
}

BertResult BertForPretraining::evaluate(const BertBatch& batch) {
  return impl_->run(batch, false, {}, 0.0F, 0.0F, nullptr);
}

double BertForPretraining::training_flops(int sequences, std::int64_t masked_positions) const {
  return impl_->training_flops(sequences, masked_positions);
}

}  // namespace podium
