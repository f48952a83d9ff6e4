// Explains a schema violation to a person: what is wrong, with which key, and what to write instead.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "common/spec/problems.h"

namespace podium {

// "/training/batch/micro" -> "training.batch.micro"; "the spec" for the root.
std::string dotted(const std::string& pointer);

// A value, shortened for a sentence.
std::string shown(const nlohmann::json& value);

// The "x-also-called" names of a property.
const nlohmann::json& also_called(const nlohmann::json& property);

// Adds a problem for each keyword of the schema at `pointer` that the value itself (not its children)
// violates. False where there is none. `in_part`: keys that another part of the spec may have are not missed.
bool explain(const nlohmann::json& document, const std::string& pointer, Problems& problems,
             bool in_part = false);

// Adds a problem for each keyword of `schema`, which has no "$ref", that the document or a value within
// breaks: a format other than the spec's. `whole`: what the document is called, as "the file".
void explain_all(const nlohmann::json& schema, const nlohmann::json& document, const std::string& whole,
                 Problems& problems);

}  // namespace podium
