#include "worker/nn/transformer_model.h"

#include <algorithm>

#include "common/model/family.h"
#include "common/model/flops.h"
#include "worker/nn/flops.h"
#include "worker/nn/layer_products.h"
#include "worker/nn/pretraining_head.h"
#include "worker/ops/rotary_heads.h"

namespace podium {
namespace {

Tensor make_rotary_table(const ModelSpec& spec, MemorySpace memory) {
  if (!traits_of(spec.family).rotary) return {};
  const std::int64_t head_size = spec.hidden / spec.heads;
  const std::vector<float> values = ops::rotary_table(spec.rope_theta, spec.max_positions, head_size);
  Tensor table(DType::f32, Shape{spec.max_positions, head_size}, memory.device);
  memory.upload<float>(table.view().values<float>(), values);
  return table;
}

}  // namespace

TransformerModel::TransformerModel(Context& context, const ModelSpec& spec, const ModelOptions& options,
                                   DType compute, const ParallelGroups& groups)
    : context_(context),
      spec_(spec),
      head_plan_(options.head ? *options.head : pretraining_head(spec.family)),
      compute_(compute),
      unpadded_(options.unpadded),
      fp8_(options.fp8),
      tensor_(*groups.tensor, options.sequence_parallel, context.memory),
      store_(context.memory),
      rotary_table_(make_rotary_table(spec, context.memory)),
      chunks_(make_chunks(store_, tensor_, spec, head_plan_, groups, options.interleave)),
      workspace_(context.memory.device),
      recomputation_(options.recompute, options.recompute_layers, context.memory),
      loss_totals_(context.memory) {
  if (!options.quantise) return;
  const DType type = options.quantise->format == QuantiseFormat::int8 ? DType::i8 : DType::e4m3;
  store_.quantise(type);
  ranges_.emplace(context.memory, product_count(spec), type, options.quantise->range_decay);
}

Shape TransformerModel::boundary_shape(const MicroBatch& batch) const {
  return {RowLayout(batch, unpadded_, tensor_.row_split()).own_rows(), spec_.hidden};
}

void TransformerModel::fetch_losses() {
  if (has_head()) loss_totals_.fetch();
}

LossSums TransformerModel::take_losses() { return has_head() ? loss_totals_.take() : LossSums{}; }

ModelMemory TransformerModel::memory() const {
  ModelMemory memory;
  for (const auto& [index, slot] : slots_)
    memory.activations += static_cast<std::int64_t>(slot.arena.capacity());
  memory.workspace = static_cast<std::int64_t>(workspace_.capacity() + recomputation_.transient().capacity());
  return memory;
}

double TransformerModel::training_flops(const MicroBatch& batch) const {
  return kTrainingPasses * (layers_flops(spec_, batch) + head_plan_.forward_flops(spec_, batch));
}

ConstTensorView TransformerModel::forward(int chunk_index, int slot_index, const Pass& pass,
                                          ConstTensorView input) {
  ModelChunk& chunk = chunks_[static_cast<std::size_t>(chunk_index)];
  Slot& slot = begin(chunk_index, slot_index, pass);
  PassPlan& plan = slot.plan();
  const PassContext context = make_context(slot, pass);
  store_.renew_copies(context_, compute_, fp8_);
  const ConstTensorView x = chunk.embeddings ? ConstTensorView() : placed(context, input);
  run(slot, plan.forward, [&] { compute_forward(chunk, context, plan, x); });
  if (!pass.training) ++plan.passes;
  return plan.output;
}

ConstTensorView TransformerModel::backward(int chunk_index, int slot_index, const Pass& pass,
                                           ConstTensorView doutput, const GradientsReady& ready) {
  ModelChunk& chunk = chunks_[static_cast<std::size_t>(chunk_index)];
  Slot& slot = slots_.at(slot_index);
  PassPlan& plan = slot.plan();
  const PassContext context = make_context(slot, pass);
  if (!chunk.head) {
    check_boundary(doutput, context);
    context_.memory.copy(plan.gradient.address, doutput.address, doutput.bytes());
  }
  // One recording for each range that is announced: what sums it up over the ranks must not be recorded.
  plan.backward.resize(chunk.layers.size() + 1);
  chunk.announce(chunk.layers.size() + 1, ready);
  for (std::size_t i = chunk.layers.size(); i-- > 0;) {
    run(slot, plan.backward[i + 1], [&] {
      recomputation_.backward(chunk.layers[i], i, context, plan.layer_inputs[i], plan.gradient,
                              plan.layers[i]);
    });
    chunk.announce(i + 1, ready);
  }
  if (chunk.embeddings)
    run(slot, plan.backward[0], [&] { chunk.embeddings->backward(context, plan.gradient, plan.embeddings); });
  chunk.announce(0, ready);
  ++plan.passes;
  return chunk.embeddings ? ConstTensorView() : plan.gradient;
}

Slot& TransformerModel::begin(int chunk_index, int slot_index, const Pass& pass) {
  const bool scores = chunks_[static_cast<std::size_t>(chunk_index)].head != nullptr;
  const std::span<const LossTerm> terms =
      scores ? std::span<const LossTerm>(head_plan_.terms) : std::span<const LossTerm>();
  Slot& slot = slots_.try_emplace(slot_index, context_.memory).first->second;
  RowLayout rows(pass.batch, unpadded_, tensor_.row_split());
  const PassValues values = values_of(pass, rows);
  slot.begin(pass.batch, std::move(rows), terms, most_tokens_together(), values,
             {chunk_index, pass.training, pass.batch.sequences, pass.batch.length});
  return slot;
}

// Rows whose logits exist at a time: on the CPU few enough for its caches' sake, on a device as many as keep
// it busy. Counted on the tensor rank with the largest share: all ranks must cut blocks alike.
std::int64_t TransformerModel::most_tokens_together() const {
  constexpr std::int64_t kHostBytes = std::int64_t{96} << 20, kDeviceBytes = std::int64_t{1} << 30;
  const std::int64_t bytes_a_row =
      (spec_.vocab + tensor_.size() - 1) / tensor_.size() * static_cast<std::int64_t>(size_of(compute_));
  return (context_.memory.on_host() ? kHostBytes : kDeviceBytes) / bytes_a_row;
}

PassValues TransformerModel::values_of(const Pass& pass, const RowLayout& rows) const {
  const auto first_sample = static_cast<std::uint64_t>(pass.batch.first_sample);
  const auto length = static_cast<std::uint64_t>(pass.batch.length);
  PassValues values{
      .dropout_key = philox_key(pass.dropout.seed, static_cast<std::uint64_t>(pass.dropout.step)),
      .first_row = static_cast<std::uint64_t>(rows.first_number()),
      .first_attention_row = first_sample * length * static_cast<std::uint64_t>(spec_.heads),
      .first_sequence = first_sample};
  std::ranges::copy(pass.scales, values.loss_scales);
  return values;
}

PassContext TransformerModel::make_context(Slot& slot, const Pass& pass) {
  workspace_.reset();
  recomputation_.transient().reset();
  return {.context = context_,
          .tensor = tensor_,
          .batch = pass.batch,
          .training = pass.training,
          .rows = *slot.rows,
          .inputs = *slot.inputs,
          .sums = loss_totals_.sums(),
          .compute = compute_,
          .fp8 = fp8_,
          .ranges = ranges(),
          .keep_probabilities = recomputation_.keeps_probabilities(pass.training),
          .rotary_table = rotary_table_.view(),
          .saved = slot.arena,
          .workspace = workspace_};
}

void TransformerModel::check_boundary(const ConstTensorView& x, const PassContext& pass) const {
  PODIUM_CHECK(
      x.address != nullptr && x.dtype == compute_ && x.shape == (Shape{pass.rows.own_rows(), spec_.hidden}),
      "what passes between chunks is a boundary tensor of its batch");
}

// What another stage has sent; on a device where recorded work of this shape looks for it.
ConstTensorView TransformerModel::placed(const PassContext& pass, ConstTensorView input) {
  check_boundary(input, pass);
  if (context_.memory.on_host()) return input;
  const TensorView copy = pass.save_own(spec_.hidden);
  context_.memory.copy(copy.address, input.address, input.bytes());
  return copy;
}

// Layers that communicate cannot be recorded, a profiler wants to see each op, and what does not round yet is
// not what will be computed again.
bool TransformerModel::records() const {
  return context_.recordings && !context_.memory.on_host() && context_.profiler == nullptr &&
         tensor_.alone() && (!ranges_ || ranges_->known());
}

template <class Work>
void TransformerModel::run(Slot& slot, Recording& recording, const Work& work) {
  if (!records()) return work();
  const std::int64_t moves = slot.arena.moves() + workspace_.moves() + recomputation_.transient().moves() +
                             (context_.state ? context_.state->moves : 0);
  recording.run(*context_.memory.stream, moves, slot.plan().passes > 0, work);
}

void TransformerModel::compute_forward(ModelChunk& chunk, const PassContext& pass, PassPlan& plan,
                                       ConstTensorView x) {
  plan.gradient = pass.training ? pass.save_own(spec_.hidden) : TensorView{};
  if (chunk.embeddings) {
    const TensorView embedded = pass.save_own(spec_.hidden);
    chunk.embeddings->forward(pass, embedded, plan.embeddings);
    x = embedded;
  }
  plan.layers.resize(chunk.layers.size());
  plan.layer_inputs.resize(chunk.layers.size());
  for (std::size_t i = 0; i < chunk.layers.size(); ++i) {
    plan.layer_inputs[i] = x;
    const TensorView y = pass.save_own(spec_.hidden);
    recomputation_.forward(chunk.layers[i], i, pass, x, y, plan.layers[i]);
    x = y;
  }
  plan.output = chunk.head ? run_head(*chunk.head, pass, plan.gradient, x) : x;
}

// `gradient` without an address: only evaluates.
ConstTensorView TransformerModel::run_head(Head& head, const PassContext& pass, TensorView gradient,
                                           ConstTensorView x) {
  if (gradient.address != nullptr) context_.memory.clear(gradient.address, gradient.bytes());
  const ArenaScope scope(workspace_);
  const ConstTensorView all = tensor_.all_rows(workspace_, x);
  if (!tensor_.splits_rows() || gradient.address == nullptr) return head.run(pass, all, gradient);
  const TensorView terms = pass.temporary_all(spec_.hidden);
  context_.memory.clear(terms.address, terms.bytes());
  head.run(pass, all, terms);
  tensor_.copy_own_rows(terms, gradient);
  return {};
}

}  // namespace podium
