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

// This rank is in every group; a group of one rank is a SingleCommunicator. A group numbers its ranks in the
// order of the world.
struct ParallelGroups {
  ParallelLayout layout;
  ParallelPlace place;
  std::unique_ptr<Communicator> tensor;    // each has a share of the same layers
  std::unique_ptr<Communicator> pipeline;  // each has its own layers; rank = stage
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
