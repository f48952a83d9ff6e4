// Phrases about a job that several commands print, made from its JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace podium::cli {

bool has_ended(const nlohmann::json& job);
std::string size_text(const nlohmann::json& job);     // "8"; "8 (4–16)" of an elastic job
std::string devices_text(const nlohmann::json& job);  // "2 × cpu, 1 a node"
// "tensor 2 × pipeline 4 × data 8", of the job's spec; "" where the model is whole on every device.
std::string layout_text(const nlohmann::json& job);
std::string progress_text(const nlohmann::json& job);  // "120/2,000"; "–" before the first step
std::string target_text(
    const nlohmann::json& job);  // "eval/gain_over_unigram 0.21 of at least 0.4"; "" without one
// What to know of the job at a glance: why it waits or failed, else how near its target is.
std::string remark(const nlohmann::json& job);
// How long the job has run, or ran; "–" before its first attempt.
std::string run_time_text(const nlohmann::json& job, std::int64_t now);
// "commit 1a2b3c4d of REPOSITORY, configs/quickstart.yaml (with uncommitted changes)"; "" when not recorded
std::string source_text(const nlohmann::json& source);

}  // namespace podium::cli
