// The forward pass of a language model over new rows of any sequences, whose earlier rows are known by the
// keys and values in a cache alone:
//
//   norm ─ query, key and value in one product ─ into the cache ─ attention ─ its output + residual
//   ─ norm ─ feed-forward 1 + GELU, or SwiGLU ─ feed-forward 2 + residual
//
// On a device a pass of one row a sequence is recorded (as a CUDA graph) when it comes a second time, and
// replayed from then on. Used by one thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "worker/generate/language_weights.h"
#include "worker/ops/cached_attention.h"
#include "worker/tensor/recording.h"

namespace podium {

struct CacheShape {
  int slots = 1;
  int positions = 1;  // of a slot; at most the model's

  auto operator<=>(const CacheShape&) const = default;
};

// Of the keys and values of all layers.
std::int64_t cache_bytes(const ModelSpec& spec, DType type, const CacheShape& cache);

// [rows] each, in host memory.
struct NewRows {
  std::vector<std::int32_t> ids, slots, positions;
  std::vector<std::int32_t> predicting;  // rows whose next token is predicted
};

class LanguagePass {
 public:
  // Context and weights outlive it.
  LanguagePass(Context& context, LanguageWeights& weights, const CacheShape& cache);

  const CacheShape& cache() const { return cache_; }
  // The first `positions` positions of a slot become those of another one.
  void copy_slot(int from, int to, int positions);
  // Puts the rows into the cache and returns the logits of those that predict, if any, in host memory,
  // row-major [predicting, vocabulary].
  std::vector<float> run(const NewRows& rows);

 private:
  enum Input { kIds, kSlots, kPositions, kPredicting };
  struct CachedLayer {
    Tensor keys, values;
  };
  struct Recorded {
    Recording recording;
    bool ran = false;  // launch by launch
  };

  Tensor allocate(DType type, std::int64_t rows, std::int64_t columns) const;
  void make_room(std::int64_t rows, std::int64_t predictions);
  void set_inputs(const NewRows& rows);
  std::span<const std::int32_t> inputs(std::int64_t part, std::int64_t count) const;
  // Of the first `rows` rows of the buffers.
  void compute(std::int64_t rows, std::int64_t predictions);
  void run_layer(DecoderLayer& layer, CachedLayer& cached, std::int64_t rows);
  void norm(const NormLayer& layer, TensorView x, TensorView y);

  Context& context_;
  LanguageWeights& weights_;
  CacheShape cache_;
  std::vector<CachedLayer> cached_;
  Tensor turns_;  // of rotary positions
  std::int64_t room_ = 0, predictions_room_ = 0;
  std::map<std::int64_t, Recorded> recordings_;  // by rows, of passes in which every row predicts

  Tensor inputs_;  // i32: ids, slots and positions of room_ rows, then predicting ones
  Tensor x_, normal_, qkv_, heads_, expanded_, inner_, statistics_;
  Tensor picked_, logits_;
};

}  // namespace podium
