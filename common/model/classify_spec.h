// What a classification task reads of its files, and what it learns to tell of a sentence or a pair.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace podium {

// A column of a table: by the name that its first line gives, or by its number.
struct ColumnSpec {
  std::string name;
  int number = 0;  // from 1; 0: by name

  bool operator==(const ColumnSpec&) const = default;
};

struct ClassifySpec {
  bool header = true;  // the first line names the columns
  ColumnSpec sentence{"sentence"};
  std::optional<ColumnSpec> pair;  // the second sentence
  ColumnSpec label{"label"};
  std::vector<std::string> labels;    // by their classes' numbers; empty: those that occur, sorted
  bool regression = false;            // a label is a number, which is predicted
  bool balanced = false;              // a class weighs in the loss as rare as it is
  std::vector<double> class_weights;  // in the loss, by class; empty: all alike
  double dropout = 0;                 // before the classifier; common/spec takes the model's
};

// Of its JSON what says where labelled text lies and how it is read. The text's own hash holds what comes of
// it.
inline constexpr const char* kReadingKeys[] = {"header", "sentence", "pair", "label", "labels"};

nlohmann::json to_json(const ClassifySpec& spec);
// What is absent is as above.
ClassifySpec classify_spec_from_json(const nlohmann::json& json);

}  // namespace podium
