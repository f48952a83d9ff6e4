// A Model made of a family's embeddings, layers and heads:
//
//   chunk 0 of the first stage      others        last chunk of the last stage
//   embeddings ─ layers ─►          ─ layers ─►   ─ layers ─ heads
//
// The flat buffers hold the chunks in order, each as [embeddings][layer]...[heads]; the last stage of several
// begins with its copy of the word embeddings. So gradients become final from the end to the beginning.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "worker/comm/parallel.h"
#include "worker/nn/flops.h"
#include "worker/nn/model.h"
#include "worker/nn/step.h"
#include "worker/nn/token_embeddings.h"

namespace podium {

template <class Embeddings, class Layer, class Heads>
class StackedModel final : public Model {
 public:
  StackedModel(Context& context, const ModelSpec& spec, const ModelOptions& options, DType compute,
               const ParallelGroups& groups)
      : context_(context),
        spec_(spec),
        options_(options),
        compute_(compute),
        tensor_(*groups.tensor, options.sequence_parallel, context.memory),
        store_(context.memory),
        workspace_(context.memory.device),
        passing_(context.memory.device),
        head_sums_(DType::u8, Shape{sizeof(HeadSums)}, context.memory.device) {
    if (groups.last_stage() && !groups.first_stage())
      word_ = declare_word_embeddings(store_, tensor_, spec, Embeddings::kWordName, true);
    for (int chunk = 0; chunk < options.interleave; ++chunk)
      add_chunk(chunk * groups.layout.pipeline + groups.place.pipeline,
                options.interleave * groups.layout.pipeline);
    store_.allocate(kFlatMultiple * groups.layout.data);
    chunks_.front().bounds.front() = 0;
    chunks_.back().bounds.back() = store_.end();
    clear_head_sums();
  }

  ParameterStore& parameters() override { return store_; }
  int chunks() const override { return static_cast<int>(chunks_.size()); }
  DType boundary_type() const override { return compute_; }
  Shape boundary_shape(const MicroBatch& batch) const override {
    return {RowLayout(batch, options_.unpadded, tensor_.row_split()).own_rows(), spec_.hidden};
  }
  LossSums take_losses() override {
    if (!chunks_.back().heads) return {};
    HeadSums sums;
    context_.memory.download(&sums, head_sums(), sizeof(HeadSums));
    clear_head_sums();
    const ops::CrossEntropySums &language = sums.language, &next = sums.next_sentence;
    return {language.loss, language.rows, language.correct, next.loss, next.rows, next.correct};
  }
  ModelMemory memory() const override {
    ModelMemory memory;
    for (const auto& [index, slot] : slots_)
      memory.activations += static_cast<std::int64_t>(slot.arena.capacity());
    memory.workspace = static_cast<std::int64_t>(workspace_.capacity() + passing_.capacity());
    return memory;
  }
  double training_flops(const MicroBatch& batch) const override {
    return podium::training_flops(spec_, batch);
  }

  ConstTensorView forward(int chunk_index, int slot_index, const Pass& pass, ConstTensorView input) override {
    Chunk& chunk = chunk_at(chunk_index);
    Slot& slot = slots_.try_emplace(slot_index, context_.memory).first->second;
    slot.begin(pass.batch, RowLayout(pass.batch, options_.unpadded, tensor_.row_split()),
               logit_bytes_a_row());
    const Step step = make_step(slot, pass);
    ConstTensorView x = input;
    if (chunk.embeddings) x = embed(chunk, step, slot);
    check_boundary(x, slot);
    slot.layers.resize(chunk.layers.size());
    slot.layer_inputs.resize(chunk.layers.size());
    for (std::size_t i = 0; i < chunk.layers.size(); ++i) {
      slot.layer_inputs[i] = x;
      const TensorView y = step.save_own(spec_.hidden);
      if (pass.training && options_.recompute != Recompute::full)
        chunk.layers[i].forward(step, x, y, slot.layers[i]);
      else
        forward_without_saving(chunk.layers[i], step, x, y);
      x = y;
    }
    if (!chunk.heads) return x;
    run_heads(chunk, step, slot, x);
    return {};
  }

  ConstTensorView backward(int chunk_index, int slot_index, const Pass& pass, ConstTensorView doutput,
                           const GradientsReady& ready) override {
    Chunk& chunk = chunk_at(chunk_index);
    Slot& slot = slots_.at(slot_index);
    const Step step = make_step(slot, pass);
    if (!chunk.heads) {
      check_boundary(doutput, slot);
      slot.gradient = step.save_own(spec_.hidden);
      context_.memory.copy(slot.gradient.address, doutput.address, doutput.bytes());
    }
    chunk.announce(chunk.layers.size() + 1, ready);
    for (std::size_t i = chunk.layers.size(); i-- > 0;) {
      if (options_.recompute == Recompute::full)
        backward_recomputing(chunk.layers[i], step, slot.layer_inputs[i], slot.gradient);
      else
        chunk.layers[i].backward(step, slot.gradient, slot.layers[i]);
      chunk.announce(i + 1, ready);
    }
    if (chunk.embeddings) chunk.embeddings->backward(step, slot.gradient, slot.embeddings);
    chunk.announce(0, ready);
    return chunk.embeddings ? ConstTensorView() : slot.gradient;
  }

 private:
  static constexpr std::int64_t kFlatMultiple = 16;  // of the flat buffers, for each data rank

  struct Chunk {
    std::optional<Embeddings> embeddings;
    std::deque<Layer> layers;
    std::optional<Heads> heads;
    std::vector<std::int64_t> bounds;  // in the flat buffers: of embeddings, of each layer, of heads

    void announce(std::size_t part, const GradientsReady& ready) const {
      if (ready && bounds[part] < bounds[part + 1]) ready(bounds[part], bounds[part + 1]);
    }
  };

  // The activations of one micro-batch on its way through one chunk.
  struct Slot {
    MemorySpace memory;
    Arena arena;
    std::optional<UploadBuffer> upload;  // where memory is a device's
    std::optional<RowLayout> rows;
    std::optional<BatchInputs> inputs;
    typename Embeddings::Saved embeddings;
    std::vector<typename Layer::Saved> layers;
    std::vector<ConstTensorView> layer_inputs;
    TensorView gradient;  // of the layers' output, then of their input

    explicit Slot(MemorySpace where) : memory(where), arena(where.device) {
      if (!where.on_host()) upload.emplace(where);
    }
    void begin(const MicroBatch& batch, RowLayout layout, std::int64_t logit_bytes_a_row) {
      arena.reset();
      rows.emplace(std::move(layout));
      inputs.emplace(batch, *rows, logit_bytes_a_row);
      if (upload) inputs->upload(*upload, arena);
    }
  };

  void add_chunk(int stage, int stages) {
    Chunk& chunk = chunks_.emplace_back();
    chunk.bounds.push_back(store_.end());
    if (stage == 0) {
      chunk.embeddings.emplace(store_, tensor_, spec_);
      word_ = chunk.embeddings->word();
    }
    chunk.bounds.push_back(store_.end());
    for (int i = spec_.layers * stage / stages; i < spec_.layers * (stage + 1) / stages; ++i) {
      chunk.layers.emplace_back(store_, tensor_, spec_, i);
      chunk.bounds.push_back(store_.end());
    }
    if (stage == stages - 1) chunk.heads.emplace(store_, tensor_, spec_, word_);
    chunk.bounds.push_back(store_.end());
  }

  Chunk& chunk_at(int index) { return chunks_[static_cast<std::size_t>(index)]; }

  Step make_step(Slot& slot, const Pass& pass) {
    workspace_.reset();
    return {.context = context_,
            .tensor = tensor_,
            .pass = pass,
            .rows = *slot.rows,
            .inputs = *slot.inputs,
            .sums = head_sums(),
            .compute = compute_,
            .fp8 = options_.fp8,
            .keep_probabilities = pass.training && options_.recompute == Recompute::none,
            .saved = slot.arena,
            .workspace = workspace_};
  }

  HeadSums* head_sums() { return static_cast<HeadSums*>(head_sums_.view().address); }
  void clear_head_sums() { context_.memory.clear(head_sums(), sizeof(HeadSums)); }

  // On the tensor rank with the largest share: all ranks must cut blocks alike.
  std::int64_t logit_bytes_a_row() const {
    return (spec_.vocab + tensor_.size() - 1) / tensor_.size() * static_cast<std::int64_t>(size_of(compute_));
  }

  // The same step, whose activations live only as long as the scope that the caller has opened.
  Step passing(const Step& step) {
    return {.context = step.context,
            .tensor = step.tensor,
            .pass = step.pass,
            .rows = step.rows,
            .inputs = step.inputs,
            .sums = step.sums,
            .compute = step.compute,
            .fp8 = step.fp8,
            .keep_probabilities = false,
            .saved = passing_,
            .workspace = step.workspace};
  }

  void check_boundary(const ConstTensorView& x, const Slot& slot) const {
    PODIUM_CHECK(x.address != nullptr && x.dtype == compute_ &&
                     x.shape == (Shape{slot.rows->own_rows(), spec_.hidden}),
                 "what passes between chunks is a boundary tensor of its batch");
  }

  ConstTensorView embed(Chunk& chunk, const Step& step, Slot& slot) {
    const TensorView x = step.save_own(spec_.hidden);
    chunk.embeddings->forward(step, x, slot.embeddings);
    return x;
  }

  void forward_without_saving(Layer& layer, const Step& step, ConstTensorView x, TensorView y) {
    const ArenaScope scope(passing_);
    typename Layer::Saved unused;
    layer.forward(passing(step), x, y, unused);
  }

  void backward_recomputing(Layer& layer, const Step& step, ConstTensorView x, TensorView dy) {
    const ArenaScope scope(passing_);
    const Step again = passing(step);
    typename Layer::Saved saved;
    layer.forward(again, x, again.save_own(spec_.hidden), saved);
    layer.backward(again, dy, saved);
  }

  void run_heads(Chunk& chunk, const Step& step, Slot& slot, ConstTensorView x) {
    slot.gradient = {};
    if (step.pass.training) {
      slot.gradient = step.save_own(spec_.hidden);
      context_.memory.clear(slot.gradient.address, slot.gradient.bytes());
    }
    const ArenaScope scope(workspace_);
    const ConstTensorView all = tensor_.all_rows(workspace_, x);
    if (!tensor_.splits_rows() || !step.pass.training) {
      chunk.heads->run(step, all, slot.gradient);
      return;
    }
    const TensorView gradient = step.temporary_all(spec_.hidden);
    context_.memory.clear(gradient.address, gradient.bytes());
    chunk.heads->run(step, all, gradient);
    tensor_.copy_own_rows(gradient, slot.gradient);
  }

  Context& context_;
  const ModelSpec spec_;
  const ModelOptions options_;
  const DType compute_;
  const TensorGroup tensor_;
  ParameterStore store_;
  ParameterId word_;  // the embeddings or the last stage's copy of them
  std::deque<Chunk> chunks_;
  std::map<int, Slot> slots_;
  Arena workspace_;
  Arena passing_;
  Tensor head_sums_;  // HeadSums that were not taken yet
};

}  // namespace podium
