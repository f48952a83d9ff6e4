#include "common/mlperf/benchmark.h"

#include <array>
#include <cmath>
#include <utility>

namespace podium::mlperf {
namespace {

template <class Enum, std::size_t count>
using Words = std::array<std::pair<Enum, std::string_view>, count>;

constexpr Words<Benchmark, 2> kBenchmarks{{{Benchmark::bert, "bert"}, {Benchmark::gpt3, "gpt3"}}};
constexpr Words<Division, 2> kDivisions{{{Division::closed, "closed"}, {Division::open, "open"}}};
constexpr Words<Status, 4> kStatuses{{{Status::onprem, "onprem"},
                                      {Status::cloud, "cloud"},
                                      {Status::preview, "preview"},
                                      {Status::research, "research"}}};

template <class Enum, std::size_t count>
std::string_view word_of(const Words<Enum, count>& words, Enum value) {
  return words.at(static_cast<std::size_t>(value)).second;
}

template <class Enum, std::size_t count>
std::optional<Enum> value_of(const Words<Enum, count>& words, std::string_view name) {
  for (const auto& [value, word] : words)
    if (word == name) return value;
  return std::nullopt;
}

}  // namespace

std::string_view to_string(Benchmark value) { return word_of(kBenchmarks, value); }
std::string_view to_string(Division value) { return word_of(kDivisions, value); }
std::string_view to_string(Status value) { return word_of(kStatuses, value); }
std::optional<Benchmark> find_benchmark(std::string_view name) { return value_of(kBenchmarks, name); }
std::optional<Division> find_division(std::string_view name) { return value_of(kDivisions, name); }
std::optional<Status> find_status(std::string_view name) { return value_of(kStatuses, name); }

Quality official_quality(Benchmark benchmark) {
  return benchmark == Benchmark::bert ? Quality{true, 0.72} : Quality{false, 2.69};
}

int runs_of_result(Benchmark benchmark) { return benchmark == Benchmark::bert ? 10 : 3; }

std::int64_t evaluation_interval(Benchmark benchmark, std::int64_t global_batch) {
  constexpr std::int64_t kGpt3 = 24'576, kUnit = 25'000;
  if (benchmark == Benchmark::gpt3) return kGpt3;
  const double samples = 0.05 * (230.23 * static_cast<double>(global_batch) + 3'000'000);
  return static_cast<std::int64_t>(std::floor(samples / kUnit)) * kUnit;
}

std::int64_t evaluation_steps(Benchmark benchmark, std::int64_t global_batch) {
  return (evaluation_interval(benchmark, global_batch) + global_batch - 1) / global_batch;
}

}  // namespace podium::mlperf
