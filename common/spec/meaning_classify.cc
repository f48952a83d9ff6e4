// The rules about the columns and labels of classification.
#include <spdlog/fmt/fmt.h>

#include <set>

#include "common/spec/explain.h"
#include "common/spec/meaning.h"

namespace podium {
namespace {

const std::string kClassify = "/training/classify";
constexpr const char* kTableColumns[] = {"/sentence", "/pair", "/label"};

std::int64_t list_length(const Facts& facts, const std::string& pointer) {
  const nlohmann::json::json_pointer at(pointer);
  if (!facts.has(pointer) || !facts.all().at(at).is_array()) return 0;
  return static_cast<std::int64_t>(facts.all().at(at).size());
}

void check_table_columns(const Facts& facts, Problems& problems) {
  const bool numbered = facts.flag(kClassify + "/header") == false;
  std::set<std::string> seen;
  for (const char* key : kTableColumns) {
    const std::string at = kClassify + key;
    const auto name = facts.text(at);
    const auto number = facts.integer(at);
    if (name && numbered)
      problems.add(
          at, fmt::format("{} (\"{}\") must be a column's number, from 1, where training.classify.header "
                          "is false",
                          dotted(at), *name));
    else if ((name || number) && !seen.insert(name ? "\"" + *name : std::to_string(*number)).second)
      problems.add(at, fmt::format("{} names a column that is named already; sentence, pair and label are "
                                   "different columns",
                                   dotted(at)));
  }
}

void check_some_weight(const Facts& facts, const std::string& weights, std::int64_t count,
                       Problems& problems) {
  for (std::int64_t i = 0; i < count; ++i)
    if (facts.number(fmt::format("{}/{}", weights, i)) != 0) return;
  if (count > 0) problems.add(weights, "training.classify.class_weights are all 0; one must be above it");
}

void check_class_labels(const Facts& facts, Problems& problems) {
  const std::string labels = kClassify + "/labels", weights = kClassify + "/class_weights";
  if (facts.flag(kClassify + "/regression") == true) {
    for (const std::string& key : {labels, weights})
      if (facts.has(key))
        problems.add_key(
            key,
            fmt::format("{} is of classes, and regression has none; leave out one of the two", dotted(key)));
    return;
  }
  const std::int64_t count = list_length(facts, labels), weighted = list_length(facts, weights);
  check_some_weight(facts, weights, weighted, problems);
  std::set<std::string> seen;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::string at = fmt::format("{}/{}", labels, i);
    if (const std::string* written = problems.written(at); written && facts.text(at)) {
      problems.add(
          at, fmt::format("training.classify.labels.{0} must be text, not {1}; put it in quotes: \"{1}\"", i,
                          *written));
      continue;
    }
    if (const auto label = facts.text(at); label && !seen.insert(*label).second)
      problems.add(at, fmt::format("training.classify.labels names \"{}\" twice", *label));
  }
  if (count > 0 && weighted > 0 && count != weighted)
    problems.add(weights,
                 fmt::format("training.classify.class_weights has {} weights for {} labels; give one each",
                             weighted, count));
}

}  // namespace

void check_classify(const Facts& facts, Problems& problems) {
  const auto task = facts.text("/training/task");
  if (!task) return;
  if (*task != "classify") {
    if (facts.has(kClassify))
      problems.add_key(
          kClassify,
          fmt::format("training.classify is for the task classify; leave it out of one for {}", *task));
    return;
  }
  check_table_columns(facts, problems);
  check_class_labels(facts, problems);
}

}  // namespace podium
