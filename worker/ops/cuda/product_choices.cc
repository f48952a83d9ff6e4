#include "worker/ops/cuda/product_choices.h"

#include <array>
#include <charconv>
#include <cstdio>
#include <stdexcept>

namespace podium::ops::cuda {
namespace {

using nlohmann::json;

constexpr std::array kTypes{DType::f32,  DType::bf16, DType::f16, DType::e4m3,
                            DType::e5m2, DType::i8,   DType::i32};
constexpr std::array<std::pair<ProductEnd, const char*>, 3> kEnds{
    {{ProductEnd::plain, "plain"}, {ProductEnd::gelu_forward, "gelu"}, {ProductEnd::gelu_backward, "gelu'"}}};
constexpr std::size_t kWordDigits = 16;

DType type_from(const std::string& name) {
  for (const DType type : kTypes)
    if (name == to_string(type)) return type;
  throw std::invalid_argument("\"" + name + "\" is no type of a product");
}

const char* end_name(ProductEnd end) {
  for (const auto& [known, name] : kEnds)
    if (known == end) return name;
  throw std::logic_error("unknown end of a product");
}

ProductEnd end_from(const std::string& name) {
  for (const auto& [end, known] : kEnds)
    if (name == known) return end;
  throw std::invalid_argument("\"" + name + "\" is no end of a product");
}

json to_json(const Product& p) {
  return {{"m", p.m},
          {"n", p.n},
          {"k", p.k},
          {"type", to_string(p.type)},
          {"result", to_string(p.result)},
          {"transposed_a", p.transposed_a},
          {"pitch_a", p.pitch_a},
          {"transposed_b", p.transposed_b},
          {"accumulate", p.accumulate},
          {"bias", p.bias},
          {"end", end_name(p.end)}};
}

Product product_from(const json& in) {
  if (in.contains("column_sums"))
    throw std::invalid_argument("an earlier build, which had cuBLASLt sum columns, chose the products");
  return {.m = in.at("m"),
          .n = in.at("n"),
          .k = in.at("k"),
          .type = type_from(in.at("type")),
          .result = type_from(in.at("result")),
          .transposed_a = in.at("transposed_a"),
          .pitch_a = in.at("pitch_a"),
          .transposed_b = in.at("transposed_b"),
          .accumulate = in.at("accumulate"),
          .bias = in.at("bias"),
          .end = end_from(in.at("end"))};
}

json to_json(const std::optional<ProductAlgorithm>& algorithm) {
  if (!algorithm) return nullptr;
  std::string digits;
  for (const std::uint64_t word : *algorithm) {
    std::array<char, kWordDigits + 1> text{};
    std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(word));
    digits += text.data();
  }
  return digits;
}

std::optional<ProductAlgorithm> algorithm_from(const json& in) {
  if (in.is_null()) return std::nullopt;
  const auto digits = in.get<std::string>();
  ProductAlgorithm algorithm{};
  if (digits.size() != algorithm.size() * kWordDigits)
    throw std::invalid_argument("\"" + digits + "\" is no algorithm");
  const char* at = digits.data();
  for (std::uint64_t& word : algorithm) {
    const auto [read, error] = std::from_chars(at, at + kWordDigits, word, 16);
    if (error != std::errc{} || read != at + kWordDigits)
      throw std::invalid_argument("\"" + digits + "\" is no algorithm");
    at = read;
  }
  return algorithm;
}

}  // namespace

json to_json(const ProductChoices& choices) {
  json out = json::array();
  for (const auto& [product, choice] : choices)
    out.push_back({{"product", to_json(product)},
                   {"algorithm", to_json(choice.algorithm)},
                   {"ms", choice.ms},
                   {"first_ms", choice.first_ms}});
  return out;
}

ProductChoices product_choices_from_json(const json& in) {
  if (!in.is_array()) throw std::invalid_argument("there is no list of products");
  ProductChoices choices;
  for (const json& choice : in)
    choices[product_from(choice.at("product"))] = {algorithm_from(choice.at("algorithm")), choice.at("ms"),
                                                   choice.at("first_ms")};
  return choices;
}

}  // namespace podium::ops::cuda
