// MLflow's language of filters and orders: "metrics.loss < 0.5 and params.lr = '0.01'", "metrics.loss DESC".
// Comparisons are joined by AND alone. Pure; an error names what it is about.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"
#include "coordinator/store/run_query.h"

namespace podium::mlflow {

inline constexpr std::size_t kLongestFilter = 8'000;  // bytes
inline constexpr std::size_t kMostComparisons = 50;
inline constexpr std::size_t kMostOrders = 20;

// What is searched for, which decides the attributes.
enum class Searched { runs, experiments };

Result<std::vector<Condition>> parse_filter(Searched searched, std::string_view text);
Result<std::vector<OrderBy>> parse_order(Searched searched, const std::vector<std::string>& texts);

}  // namespace podium::mlflow
