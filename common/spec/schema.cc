#include "common/spec/schema.h"

#include <set>
#include <string_view>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "common/spec/explain.h"

namespace podium {

extern const std::string_view kExperimentSchemaText;  // embedded_schema.cc.in

namespace {

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
    collect_keys(property, dotted, keys);
  }
}

const valijson::Schema& compiled_schema() {
  static const auto schema = [] {
    auto compiled = std::make_unique<valijson::Schema>();
    valijson::SchemaParser(valijson::SchemaParser::kDraft7)
        .populateSchema(NlohmannJsonAdapter(experiment_schema()), *compiled);
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
  static const std::vector<Suggestion> keys = keys_below(experiment_schema());
  return keys;
}

std::vector<Suggestion> keys_below(const json& schema) {
  std::vector<Suggestion> keys;
  collect_keys(schema, "", keys);
  return keys;
}

void check_shape(const json& document, Problems& problems) {
  valijson::Validator validator;
  valijson::ValidationResults results;
  const NlohmannJsonAdapter target(document);
  if (validator.validate(compiled_schema(), target, &results)) return;
  // valijson reports a fault once for its value and again for every value around it; explain() speaks for
  // each place alone, so the places around stay silent.
  std::set<std::string> places;
  for (const auto& result : results) places.insert(pointer_from(result.context));
  const std::set<std::string> refused = problems.pointers();
  bool explained = !refused.empty();
  for (const std::string& place : places)
    explained |= !refused.contains(place) && explain(document, place, problems);
  if (explained) return;
  for (const auto& result : results) problems.add(pointer_from(result.context), result.description);
}

}  // namespace podium
