// A Model made of embeddings, layers and a task's head:
//
//   chunk 0 of the first stage      others        last chunk of the last stage
//   embeddings ─ layers ─►          ─ layers ─►   ─ layers ─ head
//
// The flat buffers hold the chunks in order, each as [embeddings][layer]...[head]; the last stage of several
// begins with its copy of the word embeddings. So gradients become final from the end to the beginning.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "common/model/flops.h"
#include "worker/comm/parallel.h"
#include "worker/nn/embeddings.h"
#include "worker/nn/flops.h"
#include "worker/nn/model.h"
#include "worker/nn/pretraining_head.h"
#include "worker/nn/slot.h"
#include "worker/nn/step.h"
#include "worker/tensor/download_buffer.h"

namespace podium {

class StackedModel final : public Model {
 public:
  StackedModel(Context& context, const ModelSpec& spec, const ModelOptions& options, DType compute,
               const ParallelGroups& groups)
      : context_(context),
        spec_(spec),
        options_(options),
        head_plan_(options.head ? *options.head : pretraining_head(spec.family)),
        compute_(compute),
        tensor_(*groups.tensor, options.sequence_parallel, context.memory),
        store_(context.memory),
        workspace_(context.memory.device),
        passing_(context.memory.device),
        head_sums_(DType::u8, Shape{kHeadSumsBytes}, context.memory.device),
        fetched_sums_(context.memory) {
    if (groups.last_stage() && !groups.first_stage())
      word_ = declare_word_embeddings(store_, tensor_, spec, true);
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
  void fetch_losses() override {
    if (!has_head()) return;
    fetched_sums_.fetch(std::span(head_sums(), kMostLossTerms));
    clear_head_sums();
  }
  LossSums take_losses() override {
    LossSums losses;
    if (!has_head()) return losses;
    if (!fetched_sums_.fetching()) fetch_losses();
    const auto sums = fetched_sums_.arrived<ops::CrossEntropySums>();
    for (std::size_t term = 0; term < losses.size(); ++term)
      losses[term] = {sums[term].loss, sums[term].rows, sums[term].correct};
    return losses;
  }
  ModelMemory memory() const override {
    ModelMemory memory;
    for (const auto& [index, slot] : slots_)
      memory.activations += static_cast<std::int64_t>(slot.arena.capacity());
    memory.workspace = static_cast<std::int64_t>(workspace_.capacity() + passing_.capacity());
    return memory;
  }
  double training_flops(const MicroBatch& batch) const override {
    return kTrainingPasses * (layers_flops(spec_, batch) + head_plan_.forward_flops(spec_, batch));
  }

  ConstTensorView forward(int chunk_index, int slot_index, const Pass& pass, ConstTensorView input) override {
    Chunk& chunk = chunk_at(chunk_index);
    Slot& slot = slots_.try_emplace(slot_index, context_.memory).first->second;
    RowLayout rows(pass.batch, options_.unpadded, tensor_.row_split());
    const PassValues values = values_of(pass, rows);
    slot.begin(pass.batch, std::move(rows), terms(chunk), most_tokens_together(), values,
               {chunk_index, pass.training, pass.batch.sequences, pass.batch.length});
    PassPlan& plan = slot.plan();
    const Step step = make_step(slot, pass);
    prepare_weights(step);
    const ConstTensorView x = chunk.embeddings ? ConstTensorView() : placed(step, input);
    run(slot, plan.forward, [&] { compute_forward(chunk, step, plan, x); });
    if (!pass.training) ++plan.passes;
    return plan.output;
  }

  ConstTensorView backward(int chunk_index, int slot_index, const Pass& pass, ConstTensorView doutput,
                           const GradientsReady& ready) override {
    Chunk& chunk = chunk_at(chunk_index);
    Slot& slot = slots_.at(slot_index);
    PassPlan& plan = slot.plan();
    const Step step = make_step(slot, pass);
    if (!chunk.head) {
      check_boundary(doutput, step);
      context_.memory.copy(plan.gradient.address, doutput.address, doutput.bytes());
    }
    // One recording for each range that is announced: what sums it up over the ranks must not be recorded.
    plan.backward.resize(chunk.layers.size() + 1);
    chunk.announce(chunk.layers.size() + 1, ready);
    for (std::size_t i = chunk.layers.size(); i-- > 0;) {
      run(slot, plan.backward[i + 1], [&] { compute_backward(chunk.layers[i], step, plan, i); });
      chunk.announce(i + 1, ready);
    }
    if (chunk.embeddings)
      run(slot, plan.backward[0], [&] { chunk.embeddings->backward(step, plan.gradient, plan.embeddings); });
    chunk.announce(0, ready);
    ++plan.passes;
    return chunk.embeddings ? ConstTensorView() : plan.gradient;
  }

 private:
  static constexpr std::int64_t kFlatMultiple = 16;  // of the flat buffers, for each data rank
  static constexpr std::size_t kHeadSumsBytes = kMostLossTerms * sizeof(ops::CrossEntropySums);

  struct Chunk {
    std::optional<Embeddings> embeddings;
    std::deque<TransformerLayer> layers;
    std::unique_ptr<Head> head;
    std::vector<std::int64_t> bounds;  // in the flat buffers: of embeddings, of each layer, of the head

    void announce(std::size_t part, const GradientsReady& ready) const {
      if (ready && bounds[part] < bounds[part + 1]) ready(bounds[part], bounds[part + 1]);
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
    if (stage == stages - 1) chunk.head = head_plan_.make(store_, tensor_, spec_, word_);
    chunk.bounds.push_back(store_.end());
  }

  Chunk& chunk_at(int index) { return chunks_[static_cast<std::size_t>(index)]; }

  bool has_head() const { return chunks_.back().head != nullptr; }
  std::span<const LossTerm> terms(const Chunk& chunk) const {
    return chunk.head ? std::span<const LossTerm>(head_plan_.terms) : std::span<const LossTerm>();
  }

  PassValues values_of(const Pass& pass, const RowLayout& rows) const {
    const auto first_sample = static_cast<std::uint64_t>(pass.batch.first_sample);
    const auto length = static_cast<std::uint64_t>(pass.batch.length);
    PassValues values{
        .dropout_key = philox_key(pass.dropout.seed, static_cast<std::uint64_t>(pass.dropout.step)),
        .first_row = static_cast<std::uint64_t>(rows.first_number()),
        .first_attention_row = first_sample * length * static_cast<std::uint64_t>(spec_.heads)};
    std::ranges::copy(pass.scales, values.loss_scales);
    return values;
  }

  // Layers that communicate cannot be recorded, and a profiler wants to see each op.
  bool records() const {
    return context_.recordings && !context_.memory.on_host() && context_.profiler == nullptr &&
           tensor_.alone();
  }

  template <class Work>
  void run(Slot& slot, Recording& recording, const Work& work) {
    if (!records()) return work();
    const std::int64_t moves = slot.arena.moves() + workspace_.moves() + passing_.moves() +
                               (context_.state ? context_.state->moves : 0);
    recording.run(*context_.memory.stream, moves, slot.plan().passes > 0, work);
  }

  // On a device ahead of what is recorded, which cannot renew copies of weights.
  void prepare_weights(const Step& step) {
    if (context_.memory.on_host() || prepared_ == store_.generation()) return;
    if (compute_ != DType::f32 && !store_.rounds_stochastically()) store_.renew_narrowed(context_, compute_);
    for (Chunk& chunk : chunks_) {
      for (TransformerLayer& layer : chunk.layers) layer.prepare(step);
      if (chunk.head) chunk.head->prepare(step);
    }
    prepared_ = store_.generation();
  }

  // What another stage has sent; on a device where recorded work of this shape looks for it.
  ConstTensorView placed(const Step& step, ConstTensorView input) {
    check_boundary(input, step);
    if (context_.memory.on_host()) return input;
    const TensorView copy = step.save_own(spec_.hidden);
    context_.memory.copy(copy.address, input.address, input.bytes());
    return copy;
  }

  Step make_step(Slot& slot, const Pass& pass) {
    workspace_.reset();
    passing_.reset();
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

  ops::CrossEntropySums* head_sums() {
    return static_cast<ops::CrossEntropySums*>(head_sums_.view().address);
  }
  void clear_head_sums() { context_.memory.clear(head_sums(), kHeadSumsBytes); }

  // Rows whose logits exist at a time: on the CPU few enough for its caches' sake, on a device as many as
  // keep it busy. Counted on the tensor rank with the largest share: all ranks must cut blocks alike.
  std::int64_t most_tokens_together() const {
    constexpr std::int64_t kHostBytes = std::int64_t{96} << 20, kDeviceBytes = std::int64_t{1} << 30;
    const std::int64_t bytes_a_row =
        (spec_.vocab + tensor_.size() - 1) / tensor_.size() * static_cast<std::int64_t>(size_of(compute_));
    return (context_.memory.on_host() ? kHostBytes : kDeviceBytes) / bytes_a_row;
  }

  // The same step, whose activations live only as long as the scope that the caller has opened.
  Step passing(const Step& step, bool keep_probabilities) {
    return {.context = step.context,
            .tensor = step.tensor,
            .pass = step.pass,
            .rows = step.rows,
            .inputs = step.inputs,
            .sums = step.sums,
            .compute = step.compute,
            .fp8 = step.fp8,
            .keep_probabilities = keep_probabilities,
            .saved = passing_,
            .workspace = step.workspace};
  }

  void check_boundary(const ConstTensorView& x, const Step& step) const {
    PODIUM_CHECK(
        x.address != nullptr && x.dtype == compute_ && x.shape == (Shape{step.rows.own_rows(), spec_.hidden}),
        "what passes between chunks is a boundary tensor of its batch");
  }

  void compute_forward(Chunk& chunk, const Step& step, PassPlan& plan, ConstTensorView x) {
    const bool training = step.pass.training;
    plan.gradient = training ? step.save_own(spec_.hidden) : TensorView{};
    if (chunk.embeddings) x = embed(chunk, step, plan);
    plan.layers.resize(chunk.layers.size());
    plan.layer_inputs.resize(chunk.layers.size());
    for (std::size_t i = 0; i < chunk.layers.size(); ++i) {
      plan.layer_inputs[i] = x;
      const TensorView y = step.save_own(spec_.hidden);
      if (training && options_.recompute != Recompute::full)
        chunk.layers[i].forward(step, x, y, plan.layers[i]);
      else
        forward_without_saving(chunk.layers[i], step, x, y);
      x = y;
    }
    plan.output = chunk.head ? run_head(*chunk.head, step, plan.gradient, x) : x;
  }

  void compute_backward(TransformerLayer& layer, const Step& step, PassPlan& plan, std::size_t index) {
    if (options_.recompute == Recompute::full)
      backward_recomputing(layer, step, plan.layer_inputs[index], plan.gradient);
    else
      layer.backward(step, plan.gradient, plan.layers[index]);
  }

  ConstTensorView embed(Chunk& chunk, const Step& step, PassPlan& plan) {
    const TensorView x = step.save_own(spec_.hidden);
    chunk.embeddings->forward(step, x, plan.embeddings);
    return x;
  }

  void forward_without_saving(TransformerLayer& layer, const Step& step, ConstTensorView x, TensorView y) {
    const ArenaScope scope(passing_);
    TransformerLayer::Saved unused;
    layer.forward(passing(step, false), x, y, unused);
  }

  // Backward follows at once: it is given the probabilities of the one layer, or it would compute them a
  // third time.
  void backward_recomputing(TransformerLayer& layer, const Step& step, ConstTensorView x, TensorView dy) {
    const ArenaScope scope(passing_);
    const Step again = passing(step, true);
    TransformerLayer::Saved saved;
    layer.forward(again, x, again.save_own(spec_.hidden), saved);
    layer.backward(again, dy, saved);
  }

  // `gradient` without an address: only evaluates.
  ConstTensorView run_head(Head& head, const Step& step, TensorView gradient, ConstTensorView x) {
    if (gradient.address != nullptr) context_.memory.clear(gradient.address, gradient.bytes());
    const ArenaScope scope(workspace_);
    const ConstTensorView all = tensor_.all_rows(workspace_, x);
    if (!tensor_.splits_rows() || gradient.address == nullptr) return head.run(step, all, gradient);
    const TensorView terms = step.temporary_all(spec_.hidden);
    context_.memory.clear(terms.address, terms.bytes());
    head.run(step, all, terms);
    tensor_.copy_own_rows(terms, gradient);
    return {};
  }

  Context& context_;
  const ModelSpec spec_;
  const ModelOptions options_;
  const HeadPlan head_plan_;
  const DType compute_;
  const TensorGroup tensor_;
  ParameterStore store_;
  ParameterId word_;  // the embeddings or the last stage's copy of them
  std::deque<Chunk> chunks_;
  std::map<int, Slot> slots_;
  Arena workspace_;
  Arena passing_;
  Tensor head_sums_;  // ops::CrossEntropySums of each loss term that were not fetched yet
  DownloadBuffer fetched_sums_;
  std::int64_t prepared_ = 0;  // the store's generation that copies of weights are of
};

}  // namespace podium
