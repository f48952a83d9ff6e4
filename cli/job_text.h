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
// Why it waits or failed, with times as here; "" otherwise.
std::string reason_text(const nlohmann::json& job);
// What to know of the job at a glance: why it waits or failed, else how near its target is.
std::string remark(const nlohmann::json& job);
std::string state_text(const nlohmann::json& job);  // "running"; "running, held"
// How it is after an operation: "job 12 is queued, priority 50, held", a line.
std::string told(const nlohmann::json& job);
// How long the job's attempts have run together, not counting what it waited; "–" before the first.
std::string run_time_text(const nlohmann::json& job, std::int64_t now);
// From the start of one attempt to its end, or until now; "–" before it ran.
std::string attempt_time_text(const nlohmann::json& attempt, std::int64_t now);
// "2h05m"; "" before its target is reached, and of a program of the user's own without one.
std::string time_to_train_text(const nlohmann::json& job);
// "1 of at most 5 after failures; 2 preemptions, 1 resize"
std::string restarts_text(const nlohmann::json& job);
// As one would type it: "python3 train.py --name 'a b'"; "" of a training.
std::string command_text(const nlohmann::json& job);
// "folder src as commit 1a2b…(40) has it (v1.2), snapshot 0123456789ab"; "" of a training, and of a program
// without code.
std::string code_text(const nlohmann::json& job);
// "commit 1a2b3c4d of REPOSITORY, configs/quickstart.yaml (with uncommitted changes)"; "" when not recorded
std::string source_text(const nlohmann::json& source);

}  // namespace podium::cli
