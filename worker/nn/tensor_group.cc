#include "worker/nn/tensor_group.h"

namespace podium {

TensorGroup::TensorGroup(Communicator& comm, bool sequence_parallel, MemorySpace memory)
    : comm_(comm), splits_rows_(sequence_parallel && comm.size() > 1), memory_(memory) {}

void TensorGroup::cut(Parameter& parameter, int axis) const {
  if (alone()) return;
  const std::int64_t full = parameter.shape[axis];
  const std::int64_t begin = full * rank() / size(), end = full * (rank() + 1) / size();
  parameter.shape = parameter.shape.with(axis, end - begin);
  parameter.slice = {axis, begin, full};
}

Shape TensorGroup::all_rows_shape(const ConstTensorView& own) const {
  return own.shape.with(0, own.shape[0] * size());
}

ConstTensorView TensorGroup::all_rows(Arena& arena, ConstTensorView own) const {
  if (!splits_rows_) return own;
  const TensorView all = arena.allocate(own.dtype, all_rows_shape(own));
  comm_
      .all_gather({static_cast<const std::byte*>(own.address), own.bytes()},
                  {static_cast<std::byte*>(all.address), all.bytes()})
      .get();
  return all;
}

void TensorGroup::copy_own_rows(ConstTensorView all, TensorView own) const {
  const auto* const from = static_cast<const std::byte*>(all.address);
  const std::size_t first = splits_rows_ ? own.bytes() * static_cast<std::size_t>(rank()) : 0;
  memory_.copy(own.address, from + first, own.bytes());
}

void TensorGroup::reduce(TensorView values, Reduction reduction) const {
  if (!alone()) comm_.all_reduce(values, reduction).get();
}

void TensorGroup::reduce_to_own_rows(TensorView term, TensorView own) const {
  comm_.reduce_scatter(term).get();
  copy_own_rows(term, own);
}

}  // namespace podium
