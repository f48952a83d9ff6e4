// BERT's forward pass for inference at one shape of batch: all memory is taken when a session is made, a run
// takes none. Seven kernels a layer:
//
//   query, key and value in one product ─ attention ─ its output + residual ─ norm
//   ─ feed-forward 1 + GELU ─ feed-forward 2 + residual ─ norm
//
// In 8 bits attention, the first feed-forward product and the norms quantise what they write for the product
// behind them; residuals stay in 16 bits. On a device a pass is recorded (as a CUDA graph) when it comes a
// second time, and replayed from then on. Used by one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "worker/infer/bert_weights.h"
#include "worker/ops/quantised.h"
#include "worker/tensor/recording.h"

namespace podium {

struct SessionShape {
  int sequences = 1;
  int length = 128;
  int predictions = 0;  // at most so many masked tokens are predicted a run

  auto operator<=>(const SessionShape&) const = default;
};

// In host memory, row-major [sequences, length].
struct InferenceBatch {
  std::vector<std::int32_t> ids;
  std::vector<std::int32_t> types;          // empty: all 0
  std::vector<std::int32_t> valid_lengths;  // empty: no padding
  std::vector<std::int32_t> masked_rows;    // sequence * length + position of what is to be predicted
};

// Sees the input of every product of the encoder, in the context's memory, on its way.
using ProductObserver = std::function<void(const std::string& product, ConstTensorView input)>;

class BertSession {
 public:
  // Context and weights outlive the session.
  BertSession(Context& context, BertWeights& weights, const SessionShape& shape);

  const SessionShape& shape() const { return shape_; }
  std::int64_t rows() const { return std::int64_t{shape_.sequences} * shape_.length; }

  // Copies a batch of this session's shape to where run() reads it.
  void set_inputs(const InferenceBatch& batch);
  // Puts a pass over the inputs on the context's stream; the results are there once it is done.
  void run(const ProductObserver& observer = nullptr);

  // Results, in the context's memory, until the next run; without an address where the model has no such
  // head.
  ConstTensorView hidden() const { return x_.view(); }  // [rows, hidden]
  ConstTensorView pooled() const {
    return view_if(weights_.pooler.has_value(), pooled_);
  }                                               // [sequences, hidden]
  ConstTensorView next_sentence_logits() const {  // f32 [sequences, 2]
    return view_if(weights_.next_sentence.has_value(), next_sentence_);
  }
  ConstTensorView span_scores() const {  // f32 [rows, 2]: as the first and as the last token of an answer
    return view_if(weights_.span.has_value(), span_);
  }
  ConstTensorView class_logits() const {  // f32 [sequences, classes], or [sequences, 1]: a value
    return view_if(weights_.classifier.has_value(), classes_);
  }
  ConstTensorView prediction_logits() const {  // f32 [predictions, vocabulary]
    return view_if(weights_.prediction.has_value() && shape_.predictions > 0, predictions_);
  }

 private:
  static ConstTensorView view_if(bool there, const Tensor& tensor) {
    return there ? tensor.view() : ConstTensorView{};
  }
  void compute();
  Tensor allocate(DType type, std::int64_t rows, std::int64_t columns) const;
  void embed();
  void run_layer(EncoderLayer& layer, const EncoderLayer* next);
  void predict(PredictionHead& head);
  void pool();
  void product(DenseLayer& layer, ConstTensorView x, const ops::InferenceEpilogue& epilogue, TensorView y);
  void norm(const NormLayer& layer, TensorView x, TensorView y, const DenseLayer* reader);
  TensorView product_input() { return quantised() ? short_x_.view() : x_.view(); }
  bool quantised() const { return ops::is_quantised(weights_.product); }

  Context& context_;
  BertWeights& weights_;
  SessionShape shape_;
  ProductObserver observer_;
  Recording recording_;
  bool ran_ = false;  // launch by launch

  Tensor ids_, types_, valid_lengths_, first_rows_, masked_rows_;  // i32
  Tensor x_, short_x_;  // [rows, hidden]: a layer's input, and in 8 bits
  Tensor qkv_, heads_, sum_, inner_;
  Tensor first_, pooled_, next_sentence_, span_, classes_;
  Tensor picked_, transformed_, predictions_;
};

}  // namespace podium
