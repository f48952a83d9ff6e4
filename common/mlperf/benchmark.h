// What MLPerf Training says of the benchmarks that Podium trains: the measure and its target, how often a
// model is evaluated, and how many runs a result takes (mlcommons/training_policies, training_rules.adoc).
// Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace podium::mlperf {

enum class Benchmark { bert, gpt3 };
enum class Division { closed, open };
enum class Status { onprem, cloud, preview, research };

// The names that logs and specs have.
std::string_view to_string(Benchmark value);
std::string_view to_string(Division value);
std::string_view to_string(Status value);
std::optional<Benchmark> find_benchmark(std::string_view name);
std::optional<Division> find_division(std::string_view name);
std::optional<Status> find_status(std::string_view name);

// A measure of which more is better, or less, and the value to reach.
struct Quality {
  bool more = true;
  double target = 0;

  bool reached(double value) const { return more ? value >= target : value <= target; }
};

// Of the rounds from v1.0 on.
Quality official_quality(Benchmark benchmark);
int runs_of_result(Benchmark benchmark);

// bert: FLOOR(0.05 x (230.23 x batch + 3,000,000), 25,000). gpt3: 24,576. In sequences.
std::int64_t evaluation_interval(Benchmark benchmark, std::int64_t global_batch);
// The fewest steps that train on an interval.
std::int64_t evaluation_steps(Benchmark benchmark, std::int64_t global_batch);

}  // namespace podium::mlperf
