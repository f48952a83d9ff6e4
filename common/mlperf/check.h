// Holds a log to the rules of a round of MLPerf Training. Every deviation is a finding with its line and its
// rule's name:
//
//   KEY/one, KEY/some, KEY/value       how many lines a key has, and what they hold (rules.h)
//   line                               a line of the log cannot be read
//   benchmark                          the benchmark is none of the round's whose rules are known here
//   order                              init_start, init_stop, run_start, run_stop, and blocks and evaluations
//                                      behind run_start
//   times                              none lies over a second before one above it (not MLPerf's own rule)
//   init-time                          from the first init_start to init_stop
//   status                             of run_stop
//   target                             an evaluation within the run reaches it
//   evaluation-interval                in samples, from one evaluation to the next (closed division, rounds
//                                      from 1.0: that of 0.7 is not known here)
//   tensors                            those that were initialised (closed division, bert, rounds 1.1 to 2.1)
//
// Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/mlperf/log.h"
#include "common/mlperf/round.h"

namespace podium::mlperf {

struct Finding {
  std::int64_t line = 0;  // 0: the log as a whole
  std::string rule;
  std::string message;
};

// By line; those of the whole log last.
std::vector<Finding> check(const Log& log, Round round);

// Whether a rule is of how the run ended. A result may have one run that did not reach the target.
bool is_of_outcome(std::string_view rule);

// The round whose rules the logs together break least; of several the usual one, or else the newest. Round
// 0.7, which asks for less than all others, is none of them.
Round fitting_round(const std::vector<const Log*>& logs);

// What the log says of itself; nothing where it says it not at all, more than once, or in unknown words.
std::optional<Benchmark> benchmark_of(const Log& log);
std::optional<Division> division_of(const Log& log);

// The measure that ends a run of that round and global batch.
Quality quality_of(Benchmark benchmark, Round round, double global_batch);
// The first evaluation within the run that reaches it; null where none does.
const Line* reaching_evaluation(const Log& log, Benchmark benchmark, Round round);

}  // namespace podium::mlperf
