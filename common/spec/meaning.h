// The rules that relate several values, which the schema cannot express. Each message names the values and
// what would satisfy the rule.
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "common/model/family.h"
#include "common/model/layout_rules.h"
#include "common/spec/facts.h"
#include "common/spec/problems.h"

namespace podium {

// `filled` is with_defaults() of a document whose refused values are null.
void check_meaning(const nlohmann::json& filled, Problems& problems);

// model.family, written or by its preset; nullptr where it is absent or refused.
const FamilyTraits* named_family(const Facts& facts);

// The parts of check_meaning.
void check_parts(const Facts& facts, Problems& problems);  // which sections go together
void check_labels(const Facts& facts, Problems& problems);
void check_init(const Facts& facts, Problems& problems);     // what the first weights are of
void check_service(const Facts& facts, Problems& problems);  // all of a spec of task: serve
void check_model(const Facts& facts, Problems& problems);    // the model's shape and the task it suits
void check_data(const Facts& facts, Problems& problems);     // where it lies
void check_training(const Facts& facts,
                    Problems& problems);  // every phase's schedule, batch and lengths; evaluation
void check_squad(const Facts& facts, Problems& problems);        // questions and answers
void check_classify(const Facts& facts, Problems& problems);     // columns and labels of classification
void check_compression(const Facts& facts, Problems& problems);  // training for 8-bit and sparse inference
void check_layout(const Facts& facts, Problems& problems);       // devices, nodes, parallelism, walltime
void check_elastic(const Facts& facts, Problems& problems);      // a range of devices
void check_target(const Facts& facts, Problems& problems);       // the metric and its bound
void check_best(const Facts& facts, Problems& problems);         // the metric of checkpoint.best
void check_asha(const Facts& facts, Problems& problems);         // a sweep that ends losing trials
void check_program(const Facts& facts, Problems& problems);      // a command's environment and texts
void check_launch(const Facts& facts, Problems& problems);  // its launcher, container, inputs and outputs
void check_stop(const Facts& facts, Problems& problems);    // how a job is told to leave
void check_code(const Facts& facts, Problems& problems);    // the files that it comes with

// Whether a command's environment may have the variable.
void check_variable(const std::string& name, const std::string& at, Problems& problems);

// The duration at the pointer is `least` to `most`.
void check_duration(const Facts& facts, const char* pointer, Duration least, Duration most,
                    Problems& problems);

// How `parallel` divides the model; nothing where a key in `needed` is missing or was refused. Any other such
// key counts as 1.
std::optional<LayoutRules> layout_rules(const Facts& facts, std::initializer_list<std::string> needed);

}  // namespace podium
