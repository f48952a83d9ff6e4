// The rules of MLPerf Training about single keys of a log, as a table: how many lines of a key there are, and
// what they hold. They are facts of mlcommons/logging (compliance_checker) and mlcommons/training_policies.
// What compares lines with one another is in check.cc. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/mlperf/log.h"
#include "common/mlperf/round.h"

namespace podium::mlperf {

// To what logs a rule applies.
enum class Where { all, closed, bert, gpt3 };  // bert and gpt3: of the closed division

enum class Count { one, some, any };

struct KeyRule {
  const char* key;
  Count count;
  const char* instead = nullptr;  // some: a line of this key will do as well
  Where where = Where::all;
  Round from{0, 7}, to{9, 9};
  // What every line of it holds: a name of kDemands, or null.
  const char* demand = nullptr;
};

std::span<const KeyRule> key_rules();
// Without a benchmark: whether it applies to all of them.
bool applies(const KeyRule& rule, Round round, Division division, std::optional<Benchmark> benchmark);

// What a line must hold, in words, and whether it does.
struct Demand {
  const char* name;
  const char* words;
  bool (*met)(const Line& line);
};

// Null for a name that is none.
const Demand* find_demand(std::string_view name);

// The tensors of BERT-Large that a log names up to round 2.1, sorted.
std::vector<std::string> bert_tensors();

}  // namespace podium::mlperf
