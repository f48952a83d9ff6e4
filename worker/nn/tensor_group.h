// The tensor-parallel group as a layer sees it (Shoeybi et al., 2019). Around attention and feed-forward
// every rank computes its share of the columns for all rows; elsewhere all ranks compute the same for all
// rows or, under sequence parallelism (Korthikanti et al., 2022), each for its own run of them.
//
//                        forward                              backward
//   into a share         all_rows(x)                          sum(terms of dx)
//   out of a share       sum(terms of y)                      all_rows(dy)
#pragma once

#include "worker/comm/communicator.h"
#include "worker/nn/parameters.h"
#include "worker/nn/row_layout.h"
#include "worker/tensor/arena.h"
#include "worker/tensor/memory_space.h"

namespace podium {

class TensorGroup {
 public:
  // `comm` must outlive the group. `memory`: where the tensors lie.
  TensorGroup(Communicator& comm, bool sequence_parallel, MemorySpace memory);

  int rank() const { return comm_.rank(); }
  int size() const { return comm_.size(); }
  bool is_lead() const { return rank() == 0; }
  bool alone() const { return size() == 1; }
  bool splits_rows() const { return splits_rows_; }
  RowSplit row_split() const { return splits_rows_ ? RowSplit{rank(), size()} : RowSplit{}; }

  // This rank's share of an extent that is a multiple of size().
  std::int64_t share(std::int64_t extent) const { return extent / size(); }
  // Turns the declaration of a whole parameter into that of this rank's share along `axis`. Shares differ by
  // one if they do not come out even.
  void cut(Parameter& parameter, int axis) const;

  // Gathers all ranks' own rows into memory of `arena`; returns `own` itself if rows are not split.
  ConstTensorView all_rows(Arena& arena, ConstTensorView own) const;

  void copy_own_rows(ConstTensorView all, TensorView own) const;

  // Replaces every rank's values by their sum or maximum over the ranks.
  void reduce(TensorView values, Reduction reduction = Reduction::sum) const;

  // Sums a term of each rank over the ranks and writes this rank's own rows of the sum to `own`.
  // write_term(TensorView of all rows) computes this rank's term.
  template <class WriteTerm>
  void sum(Arena& arena, TensorView own, const WriteTerm& write_term) const {
    if (!splits_rows_) {
      write_term(own);
      reduce(own);
      return;
    }
    const ArenaScope scope(arena);
    const TensorView term = arena.allocate(own.dtype, all_rows_shape(own));
    write_term(term);
    reduce_to_own_rows(term, own);
  }

 private:
  Shape all_rows_shape(const ConstTensorView& own) const;
  void reduce_to_own_rows(TensorView term, TensorView own) const;

  Communicator& comm_;
  bool splits_rows_;
  MemorySpace memory_;
};

}  // namespace podium
