// BERT for pre-training (Devlin et al., 2018) in one process: a Model of one chunk, one micro-batch at a
// time.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "worker/nn/model.h"

namespace podium {

// Host memory, row-major [sequences, length].
struct BertBatch {
  int sequences = 0;
  int length = 0;
  std::vector<std::int32_t> input_ids;
  std::vector<std::int32_t> token_types;
  std::vector<std::int32_t> valid_lengths;         // [sequences]; positions beyond are padding
  std::vector<std::int32_t> masked_positions;      // flat indices into [sequences * length], ascending
  std::vector<std::int32_t> masked_labels;         // same size
  std::vector<std::int32_t> next_sentence_labels;  // [sequences]; 0 = is next, 1 = random
};

struct BertResult {
  double mlm_loss_sum = 0;
  double nsp_loss_sum = 0;
  std::int64_t mlm_count = 0;
  std::int64_t mlm_correct = 0;
  std::int64_t nsp_count = 0;
  std::int64_t nsp_correct = 0;
};

class BertForPretraining {
 public:
  // Throws std::invalid_argument where the shape or the precision cannot be computed on this back end. All
  // weights are zero until parameters().initialise() or a checkpoint fills them.
  BertForPretraining(Context& context, const ModelSpec& spec, int sequence_length, Precision precision);
  ~BertForPretraining();

  ParameterStore& parameters();

  // Adds d(mlm_scale * mlm_loss_sum + nsp_scale * nsp_loss_sum) to the gradients.
  BertResult forward_backward(const BertBatch& batch, float mlm_scale, float nsp_scale, const DropoutKey& key,
                              const GradientsReady& ready = nullptr);
  // The same sums without dropout and without gradients.
  BertResult evaluate(const BertBatch& batch);

  // Floating-point operations of forward_backward for one batch, matrix products only (3 x forward).
  double training_flops(int sequences, std::int64_t masked_positions) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace podium
