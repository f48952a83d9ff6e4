#include "worker/nn/layer_products.h"

#include "worker/nn/families/family.h"

namespace podium {

std::string product_name(const ModelSpec& spec, int product) {
  const int layer = product / kProductsOfLayer;
  const LayerProducts of_layer = layer_products(layer);
  if (product == of_layer.query_key_value)
    return name_in_layer(spec, layer, &FamilyNames::query) + "_key_value";
  if (product == of_layer.attention_output) return name_in_layer(spec, layer, &FamilyNames::attention_output);
  if (product == of_layer.expand) return name_in_layer(spec, layer, &FamilyNames::expand);
  return name_in_layer(spec, layer, &FamilyNames::contract);
}

}  // namespace podium
