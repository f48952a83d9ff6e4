// What a spec says of a program of the user's own beside its command: how it is launched, what is read from
// its output, the container it runs in, and the files that come to its nodes and leave them. And how any job
// is stopped.
#pragma once

#include <chrono>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/time.h"

namespace podium {

// What starts a program's ranks: Podium itself, or torchrun, once on each node.
enum class Launcher { none, torchrun };

// What is read from a program's output, beside the lines of PODIUM_EVENTS.
struct MetricsSpec {
  std::vector<std::string> parsers;  // by their names
  std::vector<std::string> regex;    // RE2; a named group is a metric, the group "step" its step

  bool empty() const { return parsers.empty() && regex.empty(); }
};

// "" : the first of them that the node has.
inline constexpr const char* kContainerRuntimes[] = {"enroot", "apptainer", "podman", "docker"};

struct ContainerSpec {
  std::string image;                       // a reference of a registry, or a path of an image on the nodes
  std::vector<std::string> mounts;         // "SOURCE:TARGET" or "SOURCE:TARGET:ro"
  std::map<std::string, std::string> env;  // within the container alone
  std::string runtime;                     // one of kContainerRuntimes; ""
};

inline constexpr Duration kUsualGrace = std::chrono::seconds(30);
inline constexpr Duration kLongestGrace = std::chrono::hours(1);
inline constexpr const char* kStopSignals[] = {"TERM", "INT", "USR1", "USR2"};

// How a job is told to save and leave.
struct StopSpec {
  Duration grace = kUsualGrace;            // from the signal to SIGKILL
  std::string signal = kStopSignals[0];    // of programs alone
  Duration before_walltime = Duration{0};  // the signal comes so long before the walltime ends

  bool operator==(const StopSpec&) const = default;
};

// A file or folder that each node of the job has on a disk of its own before the program starts.
struct InputSpec {
  std::string from;    // a path on the nodes, below the data folder where it is relative; or http(s)://
  std::string to;      // its name below PODIUM_INPUTS, relative
  std::string sha256;  // of the file; "": unchecked, of paths alone
};

nlohmann::json to_json(const MetricsSpec& metrics);
nlohmann::json to_json(const ContainerSpec& container);
nlohmann::json to_json(const StopSpec& stop);
nlohmann::json to_json(const InputSpec& input);
// What is absent is as above. Throw nlohmann::json::exception or std::invalid_argument naming the field.
MetricsSpec metrics_spec_from_json(const nlohmann::json& json);
ContainerSpec container_spec_from_json(const nlohmann::json& json);
StopSpec stop_spec_from_json(const nlohmann::json& json);
InputSpec input_spec_from_json(const nlohmann::json& json);

std::string_view to_string(Launcher value);
Launcher launcher_from(const std::string& name);

}  // namespace podium
