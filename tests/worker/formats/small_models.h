// Small models of each family, whose parameters have values that tell them apart.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "worker/comm/parallel.h"
#include "worker/comm/single_communicator.h"
#include "worker/formats/hugging_face.h"
#include "worker/formats/hugging_face_names.h"
#include "worker/nn/families/family.h"
#include "worker/nn/model.h"

namespace podium::test {

inline ModelSpec small(ModelFamily family) {
  ModelSpec spec;
  spec.family = family;
  spec.layers = 2;
  spec.hidden = 32;
  spec.heads = 4;
  spec.intermediate = 96;
  spec.vocab = 50;
  spec.max_positions = 24;
  if (family == ModelFamily::llama) {
    spec.key_value_heads = 2;
    spec.rope_theta = 500;
  }
  return spec;
}

// What the reference gives element `index` of the parameter of this name.
inline float expected_value(const std::string& name, std::int64_t index) {
  std::uint32_t crc = 0xffffffff;  // zlib's
  for (const char c : name) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (0xedb88320U & (0U - (crc & 1U)));
  }
  const std::int64_t value = static_cast<std::int64_t>(~crc) + index * 40503;
  return static_cast<float>(value / 8 % 128) / 128 - 0.5F;
}

// Every parameter of the model; of those with two axes, tensor rank `rank` of `ranks` has its rows or
// columns.
inline void declare(ParameterStore& store, const ModelSpec& spec, int rank = 0, int ranks = 1, int axis = 0,
                    const ModelHead& head = {}) {
  for (const HuggingFaceEntry& entry : hugging_face_entries(spec, head))
    for (const std::string& name : entry.parameters) {
      const std::vector<std::int64_t> shape = entry.parameter_shape();
      Parameter parameter{.name = name,
                          .shape = shape.size() == 1 ? Shape{shape[0]} : Shape{shape[0], shape[1]}};
      if (ranks > 1 && shape.size() == 2) {
        const std::int64_t extent = shape[static_cast<std::size_t>(axis)] / ranks;
        parameter.slice = {axis, rank * extent, extent * ranks};
        parameter.shape = parameter.shape.with(axis, extent);
      }
      store.add(parameter);
    }
  store.allocate();
}

inline std::vector<FullTensor> expected_tensors(const ModelSpec& spec, const ModelHead& head = {}) {
  std::vector<FullTensor> tensors;
  ParameterStore store;
  declare(store, spec, 0, 1, 0, head);
  for (const Parameter& p : store.list()) {
    FullTensor tensor{p.name, {}, {}};
    for (int axis = 0; axis < p.shape.rank(); ++axis) tensor.shape.push_back(p.shape[axis]);
    for (std::int64_t i = 0; i < p.size(); ++i) tensor.values.push_back(expected_value(p.name, i));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

}  // namespace podium::test
