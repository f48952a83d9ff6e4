// Numbers the products of a model's layers that inference computes in 8 bits or with pruned weights: of each
// layer those of query, key and value together, of attention's output, and of the feed-forward's two parts.
#pragma once

#include <string>

#include "common/model/spec.h"

namespace podium {

struct LayerProducts {
  int query_key_value, attention_output, expand, contract;
};

inline constexpr int kProductsOfLayer = 4;

constexpr LayerProducts layer_products(int layer) {
  const int first = kProductsOfLayer * layer;
  return {first, first + 1, first + 2, first + 3};
}

constexpr int product_count(const ModelSpec& spec) { return kProductsOfLayer * spec.layers; }

// As quantised folders and checkpoints name it: after the dense layer, or the first of several.
std::string product_name(const ModelSpec& spec, int product);

}  // namespace podium
