#include "cli/determined/experiment.h"

#include <algorithm>
#include <optional>

#include "common/spec/problems.h"
#include "common/spec/yaml_document.h"

namespace podium::cli {

using nlohmann::json;

Result<DeterminedExperiment> DeterminedExperiment::read(std::string_view yaml, std::string_view file) {
  DeterminedExperiment experiment;
  Problems problems(file, experiment.places_);
  std::optional<json> document = read_yaml(yaml, experiment.places_, problems);
  if (!problems.empty()) return problems.errors();
  if (!document || !document->is_object())
    return Error{ErrorCode::invalid, "is no mapping of keys to values; an experiment's configuration is one",
                 std::string(file)};
  experiment.document_ = std::move(*document);
  return experiment;
}

bool DeterminedExperiment::has(const std::string& pointer) const { return !at(pointer).is_null(); }

const json& DeterminedExperiment::at(const std::string& pointer) const {
  static const json none;
  const json::json_pointer place(pointer);
  return document_.contains(place) ? document_.at(place) : none;
}

std::string DeterminedExperiment::text(const std::string& pointer, const std::string& otherwise) const {
  const json& value = at(pointer);
  return value.is_string() ? value.get<std::string>() : value.is_null() ? otherwise : value.dump();
}

std::optional<std::int64_t> DeterminedExperiment::integer(const std::string& pointer) const {
  const json& value = at(pointer);
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX) return std::nullopt;
  return value.is_number_integer() ? std::optional(value.get<std::int64_t>()) : std::nullopt;
}

void DeterminedExperiment::drop(const std::string& pointer) {
  const json::json_pointer place(pointer);
  document_.at(place.parent_pointer()).erase(place.back());
}

void DeterminedExperiment::note(const std::string& pointer, std::string text, bool left) {
  std::string key;
  for (const char c : pointer.substr(1)) key += c == '/' ? '.' : c;
  notes_.push_back({places_.key(pointer).line, std::move(key), std::move(text), left});
}

std::vector<Note> DeterminedExperiment::take_notes() {
  std::ranges::stable_sort(notes_, {}, &Note::line);
  return std::move(notes_);
}

}  // namespace podium::cli
