#include "worker/formats/hugging_face_names.h"

#include <algorithm>

#include "common/base/check.h"
#include "worker/nn/families/family.h"

namespace podium {
namespace {

using Shape64 = std::vector<std::int64_t>;

class Table {
 public:
  explicit Table(const ModelSpec& spec) : spec_(spec), family_(family_of(spec)) {}

  HuggingFaceEntry& add(std::string name, Shape64 shape) {
    entries_.push_back({.name = name, .shape = std::move(shape), .parameters = {name}});
    return entries_.back();
  }
  void add_table(std::string_view name, std::int64_t rows, bool by_token = false) {
    if (!name.empty()) add(std::string(name), {rows, spec_.hidden}).by_token = by_token;
  }
  void add_norm(const std::string& prefix) {
    add(prefix + ".weight", {spec_.hidden});
    if (family_.norm == NormKind::layer) add(prefix + ".bias", {spec_.hidden});
  }
  void add_layer(int layer) {
    const FamilyNames& names = family_.names;
    const auto name = [&](std::string_view FamilyNames::*part) { return name_in_layer(spec_, layer, part); };
    const std::int64_t hidden = spec_.hidden, inner = spec_.intermediate;
    const std::int64_t keys = hidden / spec_.heads * spec_.key_heads();
    if (!names.first_norm.empty()) add_norm(name(&FamilyNames::first_norm));
    const std::vector<std::string> query_key_value{name(&FamilyNames::query), name(&FamilyNames::key),
                                                   name(&FamilyNames::value)};
    if (const std::string_view one = family_.hugging_face.query_key_value; !one.empty())
      add_dense(name_in_layer(spec_, layer, one), hidden, hidden, query_key_value);
    else
      for (const std::string& part : query_key_value)
        add_dense(part, part == query_key_value.front() ? hidden : keys, hidden, {part});
    const auto add = [&](std::string_view FamilyNames::*part, std::int64_t out, std::int64_t in) {
      add_dense(name(part), out, in, {name(part)});
    };
    add(&FamilyNames::attention_output, hidden, hidden);
    add_norm(name(&FamilyNames::middle_norm));
    if (!names.gate.empty()) add(&FamilyNames::gate, inner, hidden);
    add(&FamilyNames::expand, inner, hidden);
    add(&FamilyNames::contract, hidden, inner);
    if (!names.last_norm.empty()) add_norm(name(&FamilyNames::last_norm));
  }
  std::vector<HuggingFaceEntry> take() { return std::move(entries_); }

 private:
  // `parts` are ours, [out, in] each, side by side.
  void add_dense(const std::string& name, std::int64_t out, std::int64_t in,
                 const std::vector<std::string>& parts) {
    const bool transposed = family_.hugging_face.transposed;
    out *= std::ssize(parts);
    for (const char* kind : {".weight", ".bias"}) {
      const bool weight = std::string_view(kind) == ".weight";
      if (!weight && !family_.biases) continue;
      HuggingFaceEntry& entry =
          add(name + kind, weight ? (transposed ? Shape64{in, out} : Shape64{out, in}) : Shape64{out});
      entry.transposed = transposed;
      entry.parameters.clear();
      for (const std::string& part : parts) entry.parameters.push_back(part + kind);
    }
  }

  const ModelSpec& spec_;
  const Family& family_;
  std::vector<HuggingFaceEntry> entries_;
};

// Rows of a tensor of one axis: one.
std::int64_t columns_of(const HuggingFaceEntry& entry) { return entry.shape.back(); }

bool starts_with_any(std::string_view name, std::span<const std::string_view> prefixes) {
  return std::ranges::any_of(prefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

bool is_buffer(const HuggingFaceForm& form, std::string_view name) {
  return std::ranges::any_of(form.other_endings, [&](std::string_view end) { return name.ends_with(end); });
}

std::vector<HeadTensor> head_tensors(const ModelSpec& spec, const ModelHead& head) {
  const Family& family = family_of(spec);
  if (head.tokens_alone) return family.token_head->tensors(spec);
  const TaskHead* const of_task = family.find_task_head(head.task);
  return of_task == nullptr ? family.head_tensors(spec) : of_task->tensors(spec, head);
}

}  // namespace

std::vector<std::int64_t> HuggingFaceEntry::parameter_shape() const {
  if (!transposed) return shape;
  const std::int64_t out = shape.back() / static_cast<std::int64_t>(parameters.size());
  if (shape.size() == 1) return {out};
  return {out, shape.front()};
}

std::vector<HuggingFaceEntry> hugging_face_entries(const ModelSpec& spec, const ModelHead& head) {
  const Family& family = family_of(spec);
  const FamilyNames& names = family.names;
  Table table(spec);
  table.add_table(names.word, spec.vocab, true);
  table.add_table(names.position, spec.max_positions);
  table.add_table(names.type, kTokenTypes);
  if (!names.embedding_norm.empty()) table.add_norm(std::string(names.embedding_norm));
  for (int layer = 0; layer < spec.layers; ++layer) table.add_layer(layer);
  for (const HeadTensor& tensor : head_tensors(spec, head)) {
    HuggingFaceEntry& entry = table.add(tensor.name, tensor.shape);
    entry.optional = family.hugging_face.head_may_lack;
    entry.by_token = tensor.by_token;
    entry.by_label = tensor.by_label;
  }
  return table.take();
}

std::vector<FullTensor> split_entry(const HuggingFaceEntry& entry, std::vector<float> values) {
  const Shape64 shape = entry.parameter_shape();
  PODIUM_CHECK(entry.transposed || entry.parameters.size() == 1,
               "only transposed entries hold several parameters");
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
  PODIUM_CHECK(entry.transposed || parts.size() == 1, "only transposed entries hold several parameters");
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
  const HuggingFaceForm& form = family_of(family).hugging_face;
  if (is_buffer(form, name)) return std::nullopt;
  std::string result(name);
  if (starts_with_any(name, form.bare)) result.insert(0, form.prefix);
  for (const auto& [old, now] : form.older_endings)
    if (result.ends_with(old)) result.replace(result.size() - old.size(), old.size(), now);
  return result;
}

bool is_of_head(const ModelSpec& spec, std::string_view name) {
  const Family& family = family_of(spec);
  const auto is_named = [&](const HeadTensor& tensor) { return tensor.name == name; };
  return starts_with_any(name, family.hugging_face.other_beginnings) ||
         std::ranges::any_of(family.head_tensors(spec), is_named);
}

}  // namespace podium
