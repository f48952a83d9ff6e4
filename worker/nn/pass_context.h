// What every layer is told about a pass of a micro-batch, and where its tensors may live.
#pragma once

#include <cstdint>

#include "worker/nn/batch_inputs.h"
#include "worker/nn/row_layout.h"
#include "worker/nn/tensor_group.h"
#include "worker/ops/cross_entropy.h"
#include "worker/ops/dropout.h"
#include "worker/tensor/arena.h"
#include "worker/tensor/context.h"

namespace podium {

class ActivationRanges;

struct PassContext {
  Context& context;
  const TensorGroup& tensor;
  const MicroBatch& batch;
  bool training;  // dropout happens, and backward follows
  const RowLayout& rows;
  const BatchInputs& inputs;
  ops::CrossEntropySums* sums;   // of each loss term, in the context's memory
  DType compute;                 // of activations
  bool fp8;                      // the layers' dense layers multiply in FP8
  ActivationRanges* ranges;      // by which inputs of the layers' products are rounded; none: they are not
  bool keep_probabilities;       // of attention, for backward
  ConstTensorView rotary_table;  // ops::rotary_table; no address where positions do not turn queries and keys
  Arena& saved;                  // for what backward needs
  Arena& workspace;              // for temporaries; open an ArenaScope

  // [all or own rows, columns]
  TensorView save_all(std::int64_t columns) const {
    return saved.allocate(compute, Shape{rows.rows(), columns});
  }
  TensorView save_own(std::int64_t columns) const {
    return saved.allocate(compute, Shape{rows.own_rows(), columns});
  }
  TensorView temporary_all(std::int64_t columns) const {
    return workspace.allocate(compute, Shape{rows.rows(), columns});
  }
  TensorView temporary_own(std::int64_t columns) const {
    return workspace.allocate(compute, Shape{rows.own_rows(), columns});
  }

  // The dropout at `site` over a tensor of own rows.
  ops::Dropout dropout(double probability, std::uint32_t site) const {
    ops::Dropout made = make_dropout(probability, site, &PassValues::first_row);
    made.rows = inputs.numbers();
    return made;
  }
  // The dropout of attention probabilities, whose rows are (sequence, head of the whole model, query).
  ops::Dropout attention_dropout(double probability, std::uint32_t site) const {
    return make_dropout(probability, site, &PassValues::first_attention_row);
  }
  // The dropout over a tensor of a row for each sequence.
  ops::Dropout sequence_dropout(double probability, std::uint32_t site) const {
    return make_dropout(probability, site, &PassValues::first_sequence);
  }

 private:
  ops::Dropout make_dropout(double probability, std::uint32_t site,
                            std::uint64_t PassValues::*first_row) const {
    return ops::make_dropout(training ? probability : 0.0, inputs.value(&PassValues::dropout_key), site,
                             inputs.value(first_row));
  }
};

}  // namespace podium
