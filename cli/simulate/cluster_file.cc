#include "cli/simulate/cluster_file.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>

#include "common/model/node_preset.h"
#include "common/spec/problems.h"
#include "common/spec/suggest.h"
#include "common/spec/yaml_document.h"

namespace podium::cli {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 6> kKeys{"kind", "count", "devices", "partition", "labels", "network"};
constexpr std::array<std::string_view, 5> kNetworkKeys{"per_switch", "switches_per_spine", "rails",
                                                       "rail_gbps", "uplink_gbps"};
constexpr int kFastest = 60'000;  // Gb/s
constexpr std::array<std::string_view, 3> kRules{"share", "quota", "limit"};
constexpr int kMostNodes = 100'000;
constexpr int kMostNodeDevices = 1'024;  // on a node
constexpr int kLargestShare = 1'000'000;
constexpr int kLargestQuota = 1'000'000'000;

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
      if (key != "nodes" && key != "accounts")
        problems_.add_key("/" + pointer_step(key),
                          "unknown key \"" + key + "\"; a cluster has nodes and accounts");
    if (document.contains("accounts")) read_accounts(document["accounts"], cluster.accounts);
    const json& groups = document["nodes"];
    if (!groups.is_array() || groups.empty())
      return problems_.add("/nodes", "nodes is a list of groups like {kind: dgx-h100, count: 4}");
    for (std::size_t i = 0; i < groups.size(); ++i)
      read_group(groups[i], "/nodes/" + std::to_string(i), cluster.groups.emplace_back());
  }

 private:
  void read_group(const json& group, const std::string& at, NodeGroup& into) {
    if (!group.is_object()) return problems_.add(at, "a group is a mapping like {kind: dgx-h100, count: 4}");
    check_keys(group, at, kKeys);
    read_kind(group, at, into);
    read_number(group, at, "count", 1, kMostNodes, into.count);
    read_number(group, at, "devices", 1, kMostNodeDevices, into.devices);
    if (group.contains("partition") && read_text(group["partition"], at + "/partition", into.partition))
      into.labels["partition"] = into.partition;
    if (group.contains("network")) read_network(group["network"], at + "/network", into.network);
    if (!group.contains("labels")) return;
    if (!group["labels"].is_object())
      return problems_.add(at + "/labels", "labels is a mapping from names to texts");
    for (const auto& [key, value] : group["labels"].items())
      read_text(value, at + "/labels/" + pointer_step(key), into.labels[key]);
  }

  template <class Keys>
  void check_keys(const json& in, const std::string& at, const Keys& keys) {
    for (const auto& [key, value] : in.items())
      if (std::ranges::find(keys, key) == keys.end())
        problems_.add_key(at + "/" + pointer_step(key),
                          with_suggestion("unknown key \"" + key + "\"", key, {keys.begin(), keys.end()}));
  }

  void read_network(const json& network, const std::string& at, NodeNetwork& into) {
    if (!network.is_object())
      return problems_.add(at, "a network is like {per_switch: 16, switches_per_spine: 4, uplink_gbps: 400}");
    check_keys(network, at, kNetworkKeys);
    read_number(network, at, "per_switch", 1, kMostNodes, into.per_switch);
    read_number(network, at, "switches_per_spine", 1, kMostNodes, into.switches_per_spine);
    read_number(network, at, "rails", 1, kMostNodeDevices, into.rails);
    read_number(network, at, "rail_gbps", 1, kFastest, into.rail_gbps);
    read_number(network, at, "uplink_gbps", 1, kFastest, into.uplink_gbps);
    if (into.switches_per_spine > 0 && into.per_switch == 0)
      problems_.add(at, "switches_per_spine needs per_switch: how many nodes each switch has");
  }

  void read_kind(const json& group, const std::string& at, NodeGroup& into) {
    if (!group.contains("kind"))
      return problems_.add_missing(at + "/kind",
                                   fmt::format("a group needs a kind: {}", fmt::join(node_kinds(), ", ")));
    std::string kind;
    if (!read_text(group["kind"], at + "/kind", kind)) return;
    if (const auto known = group_of_kind(kind))
      into = *known;
    else
      problems_.add(at + "/kind", with_suggestion("unknown kind \"" + kind + "\"", kind, node_kinds()));
  }

  void read_accounts(const json& accounts, std::map<std::string, AccountRules>& into) {
    if (!accounts.is_object())
      return problems_.add("/accounts", "accounts is a mapping like nlp: {share: 3, quota: {gpu: 64}}");
    for (const auto& [name, rules] : accounts.items()) {
      const std::string at = "/accounts/" + pointer_step(name);
      if (const auto bad = bad_account_name(name)) problems_.add_key(at, *bad);
      if (!rules.is_object()) {
        problems_.add(at, "an account's rules are like {share: 3, quota: {gpu: 64}, limit: {gpu: 128}}");
        continue;
      }
      check_keys(rules, at, kRules);
      AccountRules& account = into[name];
      read_number(rules, at, "share", 1, kLargestShare, account.share);
      read_devices(rules, at, "quota", account.quota);
      read_devices(rules, at, "limit", account.limit);
    }
  }

  void read_devices(const json& rules, const std::string& at, const std::string& key,
                    std::map<std::string, int>& into) {
    if (!rules.contains(key)) return;
    if (!rules[key].is_object())
      return problems_.add(at + "/" + key, key + " is a mapping from kinds of devices: {gpu: 64}");
    for (const auto& [kind, devices] : rules[key].items())
      read_number(rules[key], at + "/" + key, kind, 0, kLargestQuota, into[kind]);
  }

  void read_number(const json& in, const std::string& at, const std::string& key, int least, int most,
                   int& into) {
    if (!in.contains(key)) return;
    const json& value = in[key];
    if (!value.is_number_integer() || value.get<std::int64_t>() < least || value.get<std::int64_t>() > most)
      return problems_.add(at + "/" + pointer_step(key),
                           fmt::format("{} is a whole number from {} to {}", key, least, most));
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

std::vector<std::string> node_kinds() {
  std::vector<std::string> kinds = node_preset_names();
  kinds.emplace_back("cpu");
  return kinds;
}

std::optional<NodeGroup> group_of_kind(std::string_view kind) {
  const NodePreset* preset = find_node_preset(kind);
  if (!preset && kind != "cpu") return std::nullopt;
  NodeGroup group;
  group.kind = group.labels["kind"] = kind;
  group.devices = preset ? preset->devices : 1;
  group.device_kind = preset ? "gpu" : "cpu";
  if (preset) {
    group.network.rails = preset->rails;
    group.network.rail_gbps = preset->rail_gbps;
  }
  return group;
}

namespace {

NodeDescription node_of(const NodeGroup& group, NodeId id) {
  if (const NodePreset* known = find_node_preset(group.kind)) {
    NodePreset preset = *known;
    preset.devices = group.devices;
    return artificial_node(preset, std::move(id));
  }
  NodeDescription node;
  node.address = id.value;
  node.id = std::move(id);
  for (int index = 0; index < group.devices; ++index) {
    Device& device = node.devices.emplace_back();
    device.index = index;
    device.kind = group.device_kind;
  }
  return node;
}

// Of the nth node of its kind.
std::map<std::string, std::string> labels_of(const NodeGroup& group, int nth) {
  const NodeNetwork& network = group.network;
  std::map<std::string, std::string> labels;
  const auto number = [&](const char* label, int value) {
    if (value > 0) labels[label] = std::to_string(value);
  };
  number("rails", network.rails);
  number("rail_gbps", network.rail_gbps);
  number("uplink_gbps", network.uplink_gbps);
  if (network.per_switch > 0) {
    const int leaf = (nth - 1) / network.per_switch;
    labels["switch"] = fmt::format("{}-leaf-{}", group.kind, leaf + 1);
    if (network.switches_per_spine > 0)
      labels["spine"] = fmt::format("{}-spine-{}", group.kind, leaf / network.switches_per_spine + 1);
  }
  for (const auto& [key, value] : group.labels) labels[key] = value;
  return labels;
}

}  // namespace

std::vector<NodeDescription> nodes_of(const NodeGroup& group, int first) {
  std::vector<NodeDescription> nodes;
  for (int n = 0; n < group.count; ++n) {
    nodes.push_back(node_of(group, {fmt::format("{}-{:04}", group.kind, first + n)}));
    nodes.back().labels = labels_of(group, first + n);
  }
  return nodes;
}

}  // namespace podium::cli
