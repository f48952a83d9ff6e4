#include "cli/simulate/cluster_file.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>

#include "common/spec/problems.h"
#include "common/spec/suggest.h"
#include "common/spec/yaml_document.h"

namespace podium::cli {
namespace {

using nlohmann::json;

struct Preset {
  std::string_view kind;
  int devices;
  std::string_view device_kind;
  std::string_view model;
};

constexpr std::array kPresets{Preset{"dgx-1v", 8, "gpu", "NVIDIA V100-SXM2"},
                              Preset{"dgx-2", 16, "gpu", "NVIDIA V100-SXM3"},
                              Preset{"dgx-2h", 16, "gpu", "NVIDIA V100-SXM3"},
                              Preset{"dgx-a100", 8, "gpu", "NVIDIA A100-SXM4"},
                              Preset{"dgx-h100", 8, "gpu", "NVIDIA H100-SXM5"},
                              Preset{"dgx-h200", 8, "gpu", "NVIDIA H200-SXM5"},
                              Preset{"cpu", 1, "cpu", "CPU"}};
constexpr std::array<std::string_view, 5> kKeys{"kind", "count", "devices", "partition", "labels"};
constexpr int kMostNodes = 100'000;
constexpr int kMostDevices = 1'024;  // on a node

std::string with_suggestion(const std::string& message, const std::string& word,
                            const std::vector<std::string>& known) {
  const auto meant = closest(word, known);
  return message + (meant ? "; did you mean \"" + *meant + "\"?"
                          : "; it is one of " + fmt::format("{}", fmt::join(known, ", ")));
}

class Reader {
 public:
  explicit Reader(Problems& problems) : problems_(problems) {}

  void read(const json& document, ClusterFile& cluster) {
    if (!document.is_object() || !document.contains("nodes")) {
      problems_.add("", "a cluster is \"nodes:\" with a list of groups like {kind: dgx-h100, count: 4}");
      return;
    }
    for (const auto& [key, value] : document.items())
      if (key != "nodes")
        problems_.add_key("/" + pointer_step(key), "unknown key \"" + key + "\"; a cluster has only nodes");
    const json& groups = document["nodes"];
    if (!groups.is_array() || groups.empty())
      return problems_.add("/nodes", "nodes is a list of groups like {kind: dgx-h100, count: 4}");
    for (std::size_t i = 0; i < groups.size(); ++i)
      read_group(groups[i], "/nodes/" + std::to_string(i), cluster.groups.emplace_back());
  }

 private:
  void read_group(const json& group, const std::string& at, NodeGroup& into) {
    if (!group.is_object()) return problems_.add(at, "a group is a mapping like {kind: dgx-h100, count: 4}");
    for (const auto& [key, value] : group.items())
      if (std::ranges::find(kKeys, key) == kKeys.end())
        problems_.add_key(at + "/" + pointer_step(key),
                          with_suggestion("unknown key \"" + key + "\"", key, {kKeys.begin(), kKeys.end()}));
    read_kind(group, at, into);
    read_number(group, at, "count", kMostNodes, into.count);
    read_number(group, at, "devices", kMostDevices, into.devices);
    if (group.contains("partition") && read_text(group["partition"], at + "/partition", into.partition))
      into.labels["partition"] = into.partition;
    if (!group.contains("labels")) return;
    if (!group["labels"].is_object())
      return problems_.add(at + "/labels", "labels is a mapping from names to texts");
    for (const auto& [key, value] : group["labels"].items())
      read_text(value, at + "/labels/" + pointer_step(key), into.labels[key]);
  }

  void read_kind(const json& group, const std::string& at, NodeGroup& into) {
    std::vector<std::string> kinds;
    for (const Preset& preset : kPresets) kinds.emplace_back(preset.kind);
    if (!group.contains("kind"))
      return problems_.add_missing(at + "/kind",
                                   fmt::format("a group needs a kind: {}", fmt::join(kinds, ", ")));
    if (!read_text(group["kind"], at + "/kind", into.kind)) return;
    const auto preset = std::ranges::find(kPresets, into.kind, &Preset::kind);
    if (preset == kPresets.end())
      return problems_.add(at + "/kind",
                           with_suggestion("unknown kind \"" + into.kind + "\"", into.kind, kinds));
    into.devices = preset->devices;
    into.device_kind = preset->device_kind;
    into.model = preset->model;
    into.labels["kind"] = into.kind;
  }

  void read_number(const json& group, const std::string& at, const std::string& key, int most, int& into) {
    if (!group.contains(key)) return;
    const json& value = group[key];
    if (!value.is_number_integer() || value.get<std::int64_t>() < 1 || value.get<std::int64_t>() > most)
      return problems_.add(at + "/" + key, fmt::format("{} is a whole number from 1 to {}", key, most));
    into = value.get<int>();
  }

  bool read_text(const json& value, const std::string& at, std::string& into) {
    if (!value.is_string() && !value.is_number_integer()) {  // 6214e9 is a number to YAML
      problems_.add(at, "must be a text; put it in quotes");
      return false;
    }
    into = value.is_string() ? value.get<std::string>() : value.dump();
    return true;
  }

  Problems& problems_;
};

}  // namespace

Result<ClusterFile> parse_cluster(std::string_view yaml, const std::string& name) {
  SourceMap places;
  Problems problems(name, places);
  ClusterFile cluster;
  if (const auto document = read_yaml(yaml, places, problems); document && problems.empty())
    Reader(problems).read(*document, cluster);
  if (!problems.empty()) return problems.errors();
  return cluster;
}

std::vector<NodeDescription> nodes_of(const NodeGroup& group, int first) {
  std::vector<NodeDescription> nodes;
  for (int n = 0; n < group.count; ++n) {
    NodeDescription& node = nodes.emplace_back();
    node.id.value = fmt::format("{}-{:04}", group.kind, first + n);
    node.address = node.id.value;
    node.labels = group.labels;
    for (int index = 0; index < group.devices; ++index) {
      Device& device = node.devices.emplace_back();
      device.index = index;
      device.kind = group.device_kind;
      device.model = group.model;
    }
  }
  return nodes;
}

}  // namespace podium::cli
