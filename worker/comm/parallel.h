// How the ranks of an attempt share one model (Shoeybi et al., 2019; Narayanan et al., 2021), and the groups
// in which they talk. Tensor ranks are neighbours, then data, then pipeline: rank = (pipeline * D + data) * T
// + tensor.
#pragma once

#include <memory>

#include "worker/comm/communicator.h"

namespace podium {

struct ParallelLayout {
  int tensor = 1;
  int pipeline = 1;
  int data = 1;

  int world() const { return tensor * pipeline * data; }
  bool operator==(const ParallelLayout&) const = default;
};

struct ParallelPlace {
  int tensor = 0;
  int pipeline = 0;
  int data = 0;
};

ParallelPlace place_of(const ParallelLayout& layout, int rank);
int rank_of(const ParallelLayout& layout, const ParallelPlace& place);

// Every group has this rank in it; alone it is a SingleCommunicator. Ranks within a group are in order of the
// world's.
struct ParallelGroups {
  ParallelLayout layout;
  ParallelPlace place;
  std::unique_ptr<Communicator> tensor;    // one share of the same layers each
  std::unique_ptr<Communicator> pipeline;  // one run of layers each; rank = stage
  std::unique_ptr<Communicator> data;      // the same parameters, other sequences
  std::unique_ptr<Communicator> model;     // tensor x pipeline: together one copy of the model
  std::unique_ptr<Communicator>
      ends;  // first and last stage, which share the word embeddings; alone elsewhere

  bool first_stage() const { return place.pipeline == 0; }
  bool last_stage() const { return place.pipeline == layout.pipeline - 1; }
};

// Collective over `world`, whose size must be layout.world().
ParallelGroups make_groups(Communicator& world, const ParallelLayout& layout);

}  // namespace podium
