// The products of a run on devices, chosen by time where the spec says so: before the first step of a phase
// some micro-batches are computed and forgotten, and each product that comes up is timed in several ways.
// Every rank takes the same choice, that of the lowest rank which has timed the product, else of the lowest
// which met it, and checkpoints keep it: a run that goes on on the same kind of device, with the same
// library, computes the same bits. Products of shapes that come up later are not timed, but computed by the
// library's first algorithm, as ever.
//
//   {"library": "cuBLASLt 130002", "device": "NVIDIA H200", "architecture": "sm_90",
//    "timed": ["phase 1, 16 x 128 tokens, tensor 1 x pipeline 1"], "choices":
//    [worker/ops/cuda/product_choices.h]}
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "worker/comm/parallel.h"
#include "worker/nn/micro_batch.h"
#include "worker/tensor/context.h"
#include "worker/train/phases.h"

namespace podium {

struct ProductNote {
  std::string level;
  std::string message;
};

class ProductTiming {
 public:
  static constexpr double kMostSeconds = 20;  // of timing, of all stages of a pipeline together

  // All must outlive this. `wanted`, the same on all ranks, has no effect on the CPU.
  ProductTiming(Context& context, Communicator& world, const ParallelLayout& layout, bool wanted);

  // What a checkpoint recorded, or null. Collective; tells what people should know.
  std::vector<ProductNote> take_over(const nlohmann::json& record);
  // Whether products of such shapes are still to be timed.
  bool wants(const std::string& shapes) const;
  // Times what comes up in `rehearse`, which all ranks do together, twice. Collective; tells what has come of
  // it.
  std::string choose(const std::string& shapes, const std::function<void()>& rehearse);
  // For checkpoints; null where nothing was timed.
  const nlohmann::json& record() const { return record_; }

 private:
  nlohmann::json of_this_device() const;

  Context& context_;
  Communicator& world_;
  const double most_seconds_;
  bool wanted_;
  nlohmann::json record_;
};

// What a phase's products have their shapes from, besides the model, for people.
std::string shapes_of(const TrainingPhase& phase, const JobSpec& spec, const ParallelLayout& layout);
// As many of a step's micro-batches as a rehearsal takes.
std::span<const MicroBatch> rehearsed(std::span<const MicroBatch> batches, const ParallelLayout& layout);

}  // namespace podium
