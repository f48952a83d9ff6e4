// A chunk of a model is the run of layers of one virtual stage of the pipeline. The first chunk begins with
// the embeddings, the last one ends with the head.
//
//   chunk 0 of the first stage      others        last chunk of the last stage
//   embeddings ─ layers ─►          ─ layers ─►   ─ layers ─ head
//
// The flat buffers hold a process's chunks in order, each as [embeddings][layer]...[head]. On the last of
// several stages they begin with its copy of the word embeddings, if the head decodes by them. So gradients
// become final from the end to the beginning.
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
  std::vector<std::int64_t> bounds;  // of the parts in the flat buffers: embeddings, each layer, head

  // Part 0 is the embeddings, part 1 the first layer, and so on.
  void announce(std::size_t part, const GradientsReady& ready) const {
    if (ready && bounds[part] < bounds[part + 1]) ready(bounds[part], bounds[part + 1]);
  }
};

// Declares the parameters of this process's `interleave` chunks and allocates the store.
std::deque<ModelChunk> make_chunks(ParameterStore& store, const TensorGroup& tensor, const ModelSpec& spec,
                                   const HeadPlan& head, const ParallelGroups& groups, int interleave);

}  // namespace podium
