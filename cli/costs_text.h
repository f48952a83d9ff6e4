// What a job drew and cost, in words.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace podium::cli {

// "1.28 kWh; 3.1 J a sample, 1.1 kWh to the target"; "" where nothing was measured. Of a job's ledger.
std::string energy_text(const nlohmann::json& ledger);
// "10.40 USD; 8.20 USD to the target"; "" without prices.
std::string cost_text(const nlohmann::json& ledger);

// Both as lines below a ledger; "" where there is neither.
std::string costs_text(const nlohmann::json& ledger);

std::string human_joules(double joules);
std::string human_amount(double amount, const std::string& currency);

}  // namespace podium::cli
