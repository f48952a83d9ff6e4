#include "common/spec/schema.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string_view>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "common/spec/explain.h"
#include "common/spec/sections.h"

namespace podium {

extern const std::string_view kExperimentSchemaText;  // embedded_schema.cc.in

namespace {

constexpr std::size_t kMostExplained = 200;

using nlohmann::json;
using valijson::adapters::NlohmannJsonAdapter;

// valijson's path is "<root>", "[training]", "[batch]", …
std::string pointer_from(const std::vector<std::string>& context) {
  std::string pointer;
  for (std::size_t i = 1; i < context.size(); ++i)
    pointer += "/" + pointer_step(std::string_view(context[i]).substr(1, context[i].size() - 2));
  return pointer;
}

void collect_keys(const json& schema, const std::string& path, std::vector<Suggestion>& keys) {
  const auto properties = resolved(schema).find("properties");
  if (properties == resolved(schema).end()) return;
  for (const auto& [name, property] : properties->items()) {
    const std::string dotted = path.empty() ? name : path + "." + name;
    keys.emplace_back(name, dotted);
    for (const json& other : also_called(property)) keys.emplace_back(other.get<std::string>(), dotted);
    if (property.value("x-keys-of-its-own", false)) continue;  // elsewhere they mean something else
    collect_keys(property, dotted, keys);
  }
}

// For valijson: it compares every item of a list with every other, so lists are compared here
// instead.
json without_unique_items(json schema) {
  if (schema.is_object()) schema.erase("uniqueItems");
  if (schema.is_structured())
    for (json& inner : schema) inner = without_unique_items(std::move(inner));
  return schema;
}

// body(pointer, list, its schema) for every list that has one.
template <class Body>
void each_list(const json& value, const json& schema, const std::string& pointer, const Body& body) {
  if (value.is_array()) {
    body(pointer, value, schema);
    const auto items = schema.find("items");
    if (items == schema.end() || !resolved(*items).contains("properties")) return;
    for (std::size_t i = 0; i < value.size(); ++i)
      each_list(value[i], resolved(*items), pointer + "/" + std::to_string(i), body);
  } else if (value.is_object()) {
    const auto properties = schema.find("properties");
    const auto others = schema.find("additionalProperties");
    for (const auto& [key, inner] : value.items()) {
      if (!inner.is_structured()) continue;
      const std::string at = pointer + "/" + pointer_step(key);
      if (properties != schema.end() && properties->contains(key))
        each_list(inner, resolved(properties->at(key)), at, body);
      else if (others != schema.end() && others->is_object())
        each_list(inner, resolved(*others), at, body);
    }
  }
}

bool has_twins(const json& list) { return std::set<json>(list.begin(), list.end()).size() < list.size(); }

const valijson::Schema& compiled_schema() {
  static const auto schema = [] {
    auto compiled = std::make_unique<valijson::Schema>();
    json judged = without_unique_items(experiment_schema());
    judged.erase("anyOf");  // meaning.h has a better message
    valijson::SchemaParser(valijson::SchemaParser::kDraft7)
        .populateSchema(NlohmannJsonAdapter(judged), *compiled);
    return compiled;
  }();
  return *schema;
}

}  // namespace

const json& experiment_schema() {
  static const json schema = json::parse(kExperimentSchemaText);
  return schema;
}

const json& resolved(const json& schema) {
  const auto reference = schema.find("$ref");
  if (reference == schema.end()) return schema;
  return experiment_schema().at(json::json_pointer(reference->get<std::string>().substr(1)));
}

const json* schema_of(const json::json_pointer& pointer) {
  if (pointer.empty()) return &experiment_schema();
  const json* parent = schema_of(pointer.parent_pointer());
  if (!parent) return nullptr;
  const json& around = resolved(*parent);
  if (const auto properties = around.find("properties"); properties != around.end())
    if (const auto property = properties->find(pointer.back()); property != properties->end())
      return &*property;
  for (const char* keyword : {"items", "additionalProperties"})
    if (const auto inner = around.find(keyword); inner != around.end() && inner->is_object()) return &*inner;
  return nullptr;
}

const std::vector<Suggestion>& all_keys() {
  static const std::vector<Suggestion> keys = [] {
    std::vector<Suggestion> all = keys_below(experiment_schema());
    // Of keys of one name the outermost is meant.
    std::ranges::stable_sort(all, {},
                             [](const Suggestion& key) { return std::ranges::count(key.second, '.'); });
    return all;
  }();
  return keys;
}

std::vector<Suggestion> keys_below(const json& schema) {
  std::vector<Suggestion> keys;
  collect_keys(schema, "", keys);
  // Where a service and a training have keys alike, the training's is meant more often.
  const auto of_service = [](const Suggestion& key) {
    return std::ranges::any_of(
        kOfServices, [&](const char* part) { return key.second.starts_with(std::string(part) + "."); });
  };
  std::ranges::stable_partition(keys, std::not_fn(of_service));
  return keys;
}

void check_lengths(const json& document, Problems& problems) {
  each_list(document, experiment_schema(), "",
            [&](const std::string& pointer, const json& list, const json& schema) {
              if (list.size() <= schema.value("maxItems", list.size())) return;
              problems.add(pointer, dotted(pointer) + " may list at most " + schema.at("maxItems").dump() +
                                        " items, not " + std::to_string(list.size()));
            });
}

// YAML can say "\\0"; a program, a path and a name cannot hold one.
void refuse_nul(const std::string& pointer, const json& value, Problems& problems) {
  if (value.is_string() && value.get_ref<const std::string&>().find('\0') != std::string::npos)
    return problems.add(pointer, dotted(pointer) + " has a NUL character in it; remove it");
  if (!value.is_structured()) return;
  for (const auto& [key, inner] : value.items())
    refuse_nul(pointer + "/" + pointer_step(key), inner, problems);
}

// Whether the keys that `pointer`'s schema requires must stand there and nowhere else.
bool is_whole(const std::string& pointer, bool lists_jobs) {
  return !lists_jobs || pointer.empty() || pointer.starts_with("/after/") ||
         (pointer.starts_with("/jobs/") && pointer.find('/', 6) == std::string::npos);
}

void judge_shape(const json& document, bool lists_jobs, Problems& problems) {
  refuse_nul("", document, problems);
  valijson::Validator validator;
  valijson::ValidationResults results;
  const NlohmannJsonAdapter target(document);
  std::set<std::string> places;
  each_list(document, experiment_schema(), "",
            [&](const std::string& pointer, const json& list, const json& schema) {
              if (schema.value("uniqueItems", false) && has_twins(list)) places.insert(pointer);
            });
  if (validator.validate(compiled_schema(), target, &results) && places.empty()) return;
  // valijson reports a fault for its value and again for every value around it. explain() speaks for each
  // place alone, so the places around it stay silent.
  for (const auto& result : results) places.insert(pointer_from(result.context));
  const std::set<std::string> refused = problems.pointers();
  bool explained = !refused.empty();
  for (const std::string& place : places) {
    if (problems.count() > kMostExplained) return;
    explained |= !refused.contains(place) && explain(document, place, problems, !is_whole(place, lists_jobs));
  }
  if (explained || lists_jobs) return;
  for (const auto& result : results) problems.add(pointer_from(result.context), result.description);
}

void check_shape(const json& document, Problems& problems) { judge_shape(document, false, problems); }

void check_parts_of_shape(const json& document, Problems& problems) { judge_shape(document, true, problems); }

}  // namespace podium
