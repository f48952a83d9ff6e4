#include "worker/nn/bert_embeddings.h"

#include "worker/nn/dropout_sites.h"

namespace podium {

BertEmbeddings::BertEmbeddings(ParameterStore& store, const TensorGroup& tensor, const ModelSpec& spec)
    : dropout_(spec.dropout),
      tokens_(store, tensor, spec,
              {kWordName, "bert.embeddings.position_embeddings.weight",
               "bert.embeddings.token_type_embeddings.weight"}),
      norm_(store, "bert.embeddings.LayerNorm", spec.hidden, ops::kBertEpsilon, tensor.splits_rows()) {}

void BertEmbeddings::forward(const Step& step, TensorView y, Saved& saved) {
  saved.sum = step.save_own(y.shape[1]);
  saved.statistics = step.save_statistics();
  tokens_.forward(step, saved.sum);
  ops::layer_norm_forward(step.context, saved.sum, norm_.parameters(), y, saved.statistics);
  ops::dropout(step.context, y, step.dropout(dropout_, kEmbeddingDropoutSite));
}

void BertEmbeddings::backward(const Step& step, TensorView dy, const Saved& saved) {
  ops::dropout(step.context, dy, step.dropout(dropout_, kEmbeddingDropoutSite));
  ops::layer_norm_backward(step.context, dy, saved.sum, saved.statistics, norm_.parameters(), dy,
                           norm_.gradients());
  tokens_.backward(step, dy);
}

}  // namespace podium
