// Chooses the algorithms of matrix products on devices by time, if the spec asks for it. Before the first
// step of a phase some micro-batches are computed and forgotten, and each product that comes up is timed in
// several ways. All ranks take the choice of the lowest rank that has timed the product, or else of the
// lowest rank that met it. Checkpoints keep the choices, so a run that resumes on the same kind of device
// with the same library computes the same bits. Products of shapes that come up later are not timed; the
// library's first algorithm computes them.
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
  static constexpr double kMostSeconds = 20;  // to spend on timing, for all stages of a pipeline together

  // All references must outlive this. `wanted` is the same on all ranks and has no effect on the CPU.
  ProductTiming(Context& context, Communicator& world, const ParallelLayout& layout, bool wanted);

  // Takes over what a checkpoint recorded, or null. Collective. Returns what people should know.
  std::vector<ProductNote> take_over(const nlohmann::json& record);
  // Whether products of these shapes are still to be timed.
  bool wants(const std::string& shapes) const;
  // Calls `rehearse` twice, on all ranks together, and times the products that come up in it. Collective.
  // Returns what came of it, for people.
  std::string choose(const std::string& shapes, const std::function<void()>& rehearse);
  // What a checkpoint keeps; null if nothing was timed.
  const nlohmann::json& record() const { return record_; }

 private:
  nlohmann::json of_this_device() const;

  Context& context_;
  Communicator& world_;
  const double most_seconds_;
  bool wanted_;
  nlohmann::json record_;
};

// Tells people what determines the shapes of a phase's products, besides the model.
std::string shapes_of(const TrainingPhase& phase, const JobSpec& spec, const ParallelLayout& layout);
// The micro-batches of a step that a rehearsal computes.
std::span<const MicroBatch> rehearsed(std::span<const MicroBatch> batches, const ParallelLayout& layout);

}  // namespace podium
