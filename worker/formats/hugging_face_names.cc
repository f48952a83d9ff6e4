#include "worker/formats/hugging_face_names.h"

#include <algorithm>
#include <array>

#include "common/base/check.h"

namespace podium {
namespace {

using Shape64 = std::vector<std::int64_t>;

class Table {
 public:
  HuggingFaceEntry& add(std::string name, Shape64 shape) {
    entries_.push_back({.name = name, .shape = std::move(shape), .parameters = {name}});
    return entries_.back();
  }
  // A Linear as BERT keeps it, [out, in].
  void add_linear(const std::string& prefix, std::int64_t out, std::int64_t in, bool optional = false) {
    add(prefix + ".weight", {out, in}).optional = optional;
    add(prefix + ".bias", {out}).optional = optional;
  }
  // A projection as GPT-2 keeps it, [in, out]; `parts` are ours, side by side.
  void add_projection(const std::string& prefix, std::int64_t in, std::int64_t out,
                      const std::vector<std::string>& parts) {
    for (const char* kind : {".weight", ".bias"}) {
      HuggingFaceEntry& entry = add(prefix + kind, {out});
      if (entry.name.ends_with(".weight")) entry.shape = {in, out};
      entry.transposed = true;
      entry.parameters.clear();
      for (const std::string& part : parts) entry.parameters.push_back(part + kind);
    }
  }
  void add_norm(const std::string& prefix, std::int64_t size, bool optional = false) {
    add(prefix + ".weight", {size}).optional = optional;
    add(prefix + ".bias", {size}).optional = optional;
  }
  std::vector<HuggingFaceEntry> take() { return std::move(entries_); }

 private:
  std::vector<HuggingFaceEntry> entries_;
};

constexpr std::int64_t kTokenTypes = 2;

std::vector<HuggingFaceEntry> bert_entries(const ModelSpec& spec) {
  Table table;
  const std::int64_t hidden = spec.hidden, inner = spec.intermediate;
  table.add("bert.embeddings.word_embeddings.weight", {spec.vocab, hidden}).by_token = true;
  table.add("bert.embeddings.position_embeddings.weight", {spec.max_positions, hidden});
  table.add("bert.embeddings.token_type_embeddings.weight", {kTokenTypes, hidden});
  table.add_norm("bert.embeddings.LayerNorm", hidden);
  for (int i = 0; i < spec.layers; ++i) {
    const std::string layer = "bert.encoder.layer." + std::to_string(i);
    for (const char* name : {"query", "key", "value"})
      table.add_linear(layer + ".attention.self." + name, hidden, hidden);
    table.add_linear(layer + ".attention.output.dense", hidden, hidden);
    table.add_norm(layer + ".attention.output.LayerNorm", hidden);
    table.add_linear(layer + ".intermediate.dense", inner, hidden);
    table.add_linear(layer + ".output.dense", hidden, inner);
    table.add_norm(layer + ".output.LayerNorm", hidden);
  }
  table.add_linear("bert.pooler.dense", hidden, hidden, true);
  HuggingFaceEntry& bias = table.add("cls.predictions.bias", {spec.vocab});
  bias.optional = bias.by_token = true;
  table.add_linear("cls.predictions.transform.dense", hidden, hidden, true);
  table.add_norm("cls.predictions.transform.LayerNorm", hidden, true);
  table.add_linear("cls.seq_relationship", 2, hidden, true);
  return table.take();
}

std::vector<HuggingFaceEntry> gpt_entries(const ModelSpec& spec) {
  Table table;
  const std::int64_t hidden = spec.hidden, inner = spec.intermediate;
  table.add("transformer.wte.weight", {spec.vocab, hidden}).by_token = true;
  table.add("transformer.wpe.weight", {spec.max_positions, hidden});
  for (int i = 0; i < spec.layers; ++i) {
    const std::string layer = "transformer.h." + std::to_string(i), attention = layer + ".attn";
    table.add_norm(layer + ".ln_1", hidden);
    table.add_projection(attention + ".c_attn", hidden, 3 * hidden,
                         {attention + ".query", attention + ".key", attention + ".value"});
    table.add_projection(attention + ".c_proj", hidden, hidden, {attention + ".c_proj"});
    table.add_norm(layer + ".ln_2", hidden);
    table.add_projection(layer + ".mlp.c_fc", hidden, inner, {layer + ".mlp.c_fc"});
    table.add_projection(layer + ".mlp.c_proj", inner, hidden, {layer + ".mlp.c_proj"});
  }
  table.add_norm("transformer.ln_f", hidden);
  return table.take();
}

// Rows of a tensor of one axis: one.
std::int64_t columns_of(const HuggingFaceEntry& entry) { return entry.shape.back(); }

bool starts_with_any(std::string_view name, std::span<const std::string_view> prefixes) {
  return std::ranges::any_of(prefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

bool is_not_needed(ModelFamily family, std::string_view name) {
  if (family == ModelFamily::gpt) {
    constexpr std::array<std::string_view, 2> kHeads{"score.", "multiple_choice_head."};
    return name.ends_with(".attn.bias") || name.ends_with(".attn.masked_bias") ||
           starts_with_any(name, kHeads);
  }
  constexpr std::array<std::string_view, 2> kHeads{"classifier.", "qa_outputs."};
  return name.ends_with("embeddings.position_ids") || starts_with_any(name, kHeads);
}

}  // namespace

std::vector<std::int64_t> HuggingFaceEntry::parameter_shape() const {
  if (!transposed) return shape;
  const std::int64_t out = shape.back() / static_cast<std::int64_t>(parameters.size());
  if (shape.size() == 1) return {out};
  return {out, shape.front()};
}

std::vector<HuggingFaceEntry> hugging_face_entries(const ModelSpec& spec) {
  return spec.family == ModelFamily::gpt ? gpt_entries(spec) : bert_entries(spec);
}

std::vector<FullTensor> split_entry(const HuggingFaceEntry& entry, std::vector<float> values) {
  const Shape64 shape = entry.parameter_shape();
  if (!entry.transposed) return {{entry.parameters.front(), shape, std::move(values)}};
  const auto columns = static_cast<std::size_t>(columns_of(entry)), rows = values.size() / columns;
  const std::size_t out = columns / entry.parameters.size();
  std::vector<FullTensor> parts;
  for (std::size_t p = 0; p < entry.parameters.size(); ++p) {
    FullTensor part{entry.parameters[p], shape, std::vector<float>(out * rows)};
    for (std::size_t o = 0; o < out; ++o)
      for (std::size_t i = 0; i < rows; ++i) part.values[o * rows + i] = values[i * columns + p * out + o];
    parts.push_back(std::move(part));
  }
  return parts;
}

FullTensor join_entry(const HuggingFaceEntry& entry, std::vector<FullTensor> parts) {
  PODIUM_CHECK(parts.size() == entry.parameters.size(), "an entry is joined from all of its parameters");
  if (!entry.transposed) return {entry.name, entry.shape, std::move(parts.front().values)};
  const auto columns = static_cast<std::size_t>(columns_of(entry));
  const std::size_t out = columns / parts.size(), rows = parts.front().values.size() / out;
  FullTensor whole{entry.name, entry.shape, std::vector<float>(rows * columns)};
  for (std::size_t p = 0; p < parts.size(); ++p)
    for (std::size_t o = 0; o < out; ++o)
      for (std::size_t i = 0; i < rows; ++i)
        whole.values[i * columns + p * out + o] = parts[p].values[o * rows + i];
  return whole;
}

std::optional<std::string> canonical_name(ModelFamily family, std::string_view name) {
  if (is_not_needed(family, name)) return std::nullopt;
  std::string result(name);
  if (family == ModelFamily::gpt) {
    constexpr std::array<std::string_view, 4> kBare{"wte.", "wpe.", "h.", "ln_f."};
    return starts_with_any(name, kBare) ? "transformer." + result : result;
  }
  constexpr std::array<std::string_view, 3> kBare{"embeddings.", "encoder.", "pooler."};
  if (starts_with_any(name, kBare)) result = "bert." + result;
  const auto rename = [&](std::string_view old, std::string_view now) {
    if (result.ends_with(old)) result.replace(result.size() - old.size(), old.size(), now);
  };
  rename("LayerNorm.gamma", "LayerNorm.weight");
  rename("LayerNorm.beta", "LayerNorm.bias");
  return result;
}

std::string_view tied_name(ModelFamily family) {
  return family == ModelFamily::gpt ? "lm_head.weight" : "cls.predictions.decoder.weight";
}

std::string_view embeddings_name(ModelFamily family) {
  return family == ModelFamily::gpt ? "transformer.wte.weight" : "bert.embeddings.word_embeddings.weight";
}

}  // namespace podium
