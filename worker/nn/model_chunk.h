// A chunk of a model: the run of layers of one virtual stage of the pipeline, with the embeddings in front of
// the first and the head behind the last.
//
//   chunk 0 of the first stage      others        last chunk of the last stage
//   embeddings ─ layers ─►          ─ layers ─►   ─ layers ─ head
//
// The flat buffers hold a process's chunks in order, each as [embeddings][layer]...[head]; the last stage of
// several begins with its copy of the word embeddings. So gradients become final from the end to the
// beginning.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "worker/comm/parallel.h"
#include "worker/nn/embeddings.h"
#include "worker/nn/model.h"
#include "worker/nn/transformer_layer.h"

namespace podium {

struct ModelChunk {
  std::optional<Embeddings> embeddings;
  std::deque<TransformerLayer> layers;
  std::unique_ptr<Head> head;
  std::vector<std::int64_t> bounds;  // in the flat buffers: of embeddings, of each layer, of the head

  // Parts as in `bounds`: 0 the embeddings, 1 the first layer.
  void announce(std::size_t part, const GradientsReady& ready) const {
    if (ready && bounds[part] < bounds[part + 1]) ready(bounds[part], bounds[part + 1]);
  }
};

// Declares what this process holds of the model, `interleave` chunks, and allocates the store.
std::deque<ModelChunk> make_chunks(ParameterStore& store, const TensorGroup& tensor, const ModelSpec& spec,
                                   const HeadPlan& head, const ParallelGroups& groups, int interleave);

}  // namespace podium
