#include "worker/nn/model_chunk.h"

#include "worker/nn/families/family.h"

namespace podium {

std::deque<ModelChunk> make_chunks(ParameterStore& store, const TensorGroup& tensor, const ModelSpec& spec,
                                   const HeadPlan& head, const ParallelGroups& groups, int interleave) {
  constexpr std::int64_t kFlatMultiple = 16;  // of the flat buffers, for each data rank
  ParameterId
      word;  // the embeddings, or the last stage's copy of them, which only a head that ties them needs
  if (groups.last_stage() && !groups.first_stage() && ties_embeddings(spec))
    word = declare_word_embeddings(store, tensor, spec, true);

  const int stages = interleave * groups.layout.pipeline;
  std::deque<ModelChunk> chunks;
  for (int stage = groups.place.pipeline; stage < stages; stage += groups.layout.pipeline) {
    ModelChunk& chunk = chunks.emplace_back();
    const auto end_part = [&] { chunk.bounds.push_back(store.end()); };
    end_part();
    if (stage == 0) word = chunk.embeddings.emplace(store, tensor, spec).word();
    end_part();
    for (int i = spec.layers * stage / stages; i < spec.layers * (stage + 1) / stages; ++i) {
      chunk.layers.emplace_back(store, tensor, spec, i);
      end_part();
    }
    if (stage == stages - 1) chunk.head = head.make(store, tensor, spec, word);
    end_part();
  }
  store.allocate(kFlatMultiple * groups.layout.data);
  chunks.front().bounds.front() = 0;
  chunks.back().bounds.back() = store.end();
  return chunks;
}

}  // namespace podium
