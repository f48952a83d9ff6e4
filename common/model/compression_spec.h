// How a training fits a model to what inference computes with: products in 8 bits, weights of which half are
// zero, and a teacher that has neither.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace podium {

enum class QuantiseFormat { int8, fp8 };

struct QuantiseSpec {
  QuantiseFormat format = QuantiseFormat::int8;
  double range_decay = 0.99;  // of the moving average of what a product's inputs reach
  // A folder of podium-worker calibrate whose ranges the averages begin with, relative to the data folder;
  // "": they begin with the first batch's.
  std::string ranges;

  bool operator==(const QuantiseSpec&) const = default;
};

// Of the weights that inference can prune. two_of_four: of each four neighbouring inputs two are kept.
enum class Sparsity { none, two_of_four };

// Whose scores a training learns beside the labels. init: those of the weights that model.init names, in fp32,
// neither rounded nor pruned.
enum class Teacher { init };

struct DistillSpec {
  Teacher teacher = Teacher::init;
  double weight = 0.5;       // of the teacher's part of the loss; the labels' has the rest
  double temperature = 1.0;  // by which both models' scores are divided

  bool operator==(const DistillSpec&) const = default;
};

nlohmann::json to_json(const QuantiseSpec& spec);
nlohmann::json to_json(const DistillSpec& spec);
// What is absent is as above.
QuantiseSpec quantise_spec_from_json(const nlohmann::json& json);
DistillSpec distill_spec_from_json(const nlohmann::json& json);

std::string_view to_string(QuantiseFormat value);
std::string_view to_string(Sparsity value);
Sparsity sparsity_from(const std::string& name);

}  // namespace podium
