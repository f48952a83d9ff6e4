// The {placeholders} of command, env and workdir, and the variables that Podium sets itself. common/spec
// checks specs by them; the agent fills them in.
#pragma once

#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace podium {

// Placeholders that are known when a process is started; the others are the spec's parameters.
inline constexpr std::array<std::string_view, 17> kRunPlaceholders{
    "job",        "job_name",     "attempt",          "rank",
    "world_size", "local_rank",   "local_world_size", "node_rank",
    "nodes",      "node_devices", "master_addr",      "master_port",
    "data",       "checkpoints",  "resume",           "task_folder",
    "inputs"};

// Whether `text` can name a placeholder, parameter or variable: letters, digits and _, no digit first.
bool is_plain_name(std::string_view text);

// The names in "--lr={lr}", in their order. ${NAME} is left to the shell, and {{name}} means the text {name};
// braces around anything but a plain name stay.
std::vector<std::string> placeholders_in(std::string_view text);

// A placeholder without a value stays as it is.
std::string fill_placeholders(std::string_view text, const std::map<std::string, std::string>& values);

// Whether only Podium sets the variable: RANK, MASTER_ADDR, PODIUM_… and so on.
bool is_reserved_variable(std::string_view name);

// "lr" -> "PODIUM_PARAM_LR".
std::string parameter_variable(std::string_view name);

// A parameter as text for a command or a variable: 0.001, text without quotes, true.
std::string parameter_text(const nlohmann::json& value);

}  // namespace podium
