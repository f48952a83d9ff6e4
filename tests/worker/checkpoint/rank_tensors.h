// A small model's tensors as one rank of any layout holds them: every weight and moment is a function of its
// place in the whole model, worked out element by element.
#pragma once

#include <string>
#include <vector>

#include "worker/checkpoint/live_bytes.h"
#include "worker/checkpoint/tensors.h"

namespace podium {

struct TestLayout {
  ParallelLayout layout;
  bool distributed = false;

  std::string name() const {
    return "T" + std::to_string(layout.tensor) + "P" + std::to_string(layout.pipeline) + "D" +
           std::to_string(layout.data) + (distributed ? "distributed" : "");
  }
};

class RankTensors {
 public:
  RankTensors(const TestLayout& layout, int rank) : layout_(layout), place_(place_of(layout.layout, rank)) {
    const int layers = 4 / layout.layout.pipeline;
    const bool first = place_.pipeline == 0, last = place_.pipeline == layout.layout.pipeline - 1;
    if (first || last) add("embeddings", {48, 6}, 0, last && !first);
    for (int i = 0; i < layers; ++i) {
      const std::string layer = "layer." + std::to_string(place_.pipeline * layers + i);
      add(layer + ".norm", {37});
      add(layer + ".expand.weight", {40, 9}, 0);
      add(layer + ".expand.bias", {40}, 0);
      add(layer + ".contract.weight", {9, 40}, 1);
      add(layer + ".contract.bias", {9});
    }
    if (last) add("head.weight", {3, 5});
    parameters_.allocate(16 * layout.layout.data);
    make_shard();
    moments_.resize(2, std::vector<float>(shard_size()));
  }

  CheckpointTensors tensors() {
    return {parameters_, {{"first_moment", moments_[0]}, {"second_moment", moments_[1]}}, shard_};
  }
  const ParallelPlace& place() const { return place_; }

  // As an update does while these are saved.
  void refill(float offset, const BeforeChange& before_change) {
    if (before_change)
      for (const std::span<float> all :
           {parameters_.weights(), std::span(moments_[0]), std::span(moments_[1])})
        before_change(std::as_bytes(all));
    fill(offset);
  }
  void fill(float offset = 0) {
    for_each_element([&](float& weight, float* first, float* second, float value) {
      weight = value + offset;
      if (first != nullptr) *first = 0.25F * value + offset;
      if (second != nullptr) *second = 0.5F * value + offset;
    });
  }
  // How many weights and moments are not what `fill` makes them.
  std::int64_t wrong_values(float offset = 0) {
    std::int64_t wrong = 0;
    for_each_element([&](float weight, const float* first, const float* second, float value) {
      wrong += weight != value + offset;
      wrong += first != nullptr && *first != 0.25F * value + offset;
      wrong += second != nullptr && *second != 0.5F * value + offset;
    });
    return wrong;
  }

 private:
  void add(const std::string& name, const Shape& full, int axis = -1, bool tied_copy = false) {
    Parameter p{.name = name, .shape = full, .tied_copy = tied_copy};
    if (axis >= 0 && layout_.layout.tensor > 1) {
      const std::int64_t extent = full[axis] / layout_.layout.tensor;
      p.slice = {axis, place_.tensor * extent, full[axis]};
      p.shape = full.with(axis, extent);
    }
    parameters_.add(p);
  }

  // Where distributed: of buckets of unequal sizes, this data rank's part of each.
  void make_shard() {
    const auto end = static_cast<std::int64_t>(parameters_.weights().size());
    if (!layout_.distributed) {
      shard_ = {{0, end}};
      return;
    }
    const std::int64_t unit = 16 * layout_.layout.data;
    for (std::int64_t begin = 0, size = unit; begin < end; begin += size, size += unit) {
      const std::int64_t part = std::min(size, end - begin) / layout_.layout.data;
      shard_.push_back({begin + place_.data * part, begin + (place_.data + 1) * part});
    }
  }
  std::size_t shard_size() const {
    std::int64_t size = 0;
    for (const FlatRange& range : shard_) size += range.size();
    return static_cast<std::size_t>(size);
  }

  // visit(weight, first moment or nullptr, second moment or nullptr, the value the whole model has there)
  template <class Visit>
  void for_each_element(const Visit& visit) {
    float base = 0;
    for (const Parameter& p : parameters_.list()) {
      base = static_cast<float>(std::hash<std::string>()(p.name) % 1000);
      const std::int64_t columns = p.shape.rank() == 2 ? p.shape[1] : 1;
      const std::int64_t full_columns = p.shape.rank() == 2 ? p.full_shape()[1] : 1;
      for (std::int64_t i = 0; i < p.size(); ++i) {
        const std::int64_t row = i / columns + (p.slice.axis == 0 ? p.slice.begin : 0);
        const std::int64_t column = i % columns + (p.slice.axis == 1 ? p.slice.begin : 0);
        const std::int64_t moment = moment_of(p.offset + i);
        visit(parameters_.weights()[static_cast<std::size_t>(p.offset + i)],
              moment < 0 ? nullptr : &moments_[0][static_cast<std::size_t>(moment)],
              moment < 0 ? nullptr : &moments_[1][static_cast<std::size_t>(moment)],
              base + static_cast<float>(row * full_columns + column));
      }
    }
  }
  std::int64_t moment_of(std::int64_t flat) const {
    std::int64_t before = 0;
    for (const FlatRange& range : shard_) {
      if (flat >= range.begin && flat < range.end) return before + flat - range.begin;
      before += range.size();
    }
    return -1;
  }

  TestLayout layout_;
  ParallelPlace place_;
  ParameterStore parameters_;
  std::vector<FlatRange> shard_;
  std::vector<std::vector<float>> moments_;
};

}  // namespace podium
