#include "coordinator/core/nodes/node_operations.h"

#include <algorithm>

#include "coordinator/core/accounts/account_rules.h"
#include "coordinator/core/nodes/report_limits.h"

namespace podium {
namespace {

constexpr std::size_t kLongestReason = 500;

Error no_such_node(const NodeId& node) {
  return {ErrorCode::not_found, "there is no node " + node.value + "; \"podium nodes\" lists them", ""};
}

Errors label_problems(const LabelNode& command) {
  Errors errors;
  const std::string rule(kLabelRule);
  for (const auto& [key, value] : command.labels) {
    if (!is_label_text(key))
      errors.push_back({ErrorCode::invalid, "the label key \"" + key + "\" " + rule, "/labels"});
    else if (value && !is_label_text(*value))
      errors.push_back({ErrorCode::invalid, "the label value \"" + *value + "\" " + rule, "/labels/" + key});
  }
  return errors;
}

// Checks the window of a drain or a reservation.
template <class Command>
Errors check_window(const Command& command, Time now) {
  Errors errors;
  if (command.reason.size() > kLongestReason)
    errors.push_back({ErrorCode::invalid, "the reason must have at most 500 bytes", "/reason"});
  if (command.until && *command.until <= now)
    errors.push_back({ErrorCode::invalid, "the window is over already; give a later end", "/until_ms"});
  else if (command.until && command.from && *command.until <= *command.from)
    errors.push_back({ErrorCode::invalid, "the window must end after it begins", "/until_ms"});
  return errors;
}

}  // namespace

Result<Events> drain_node(const ClusterState& state, const DrainNode& command, Time now) {
  const Node* node = find_node(state, command.node);
  if (!node) return no_such_node(command.node);
  if (Errors errors = check_window(command, now); !errors.empty()) return errors;
  Drain drain{command.reason, command.from, command.until};
  if (drain.from && *drain.from <= now) drain.from.reset();
  if (node->drain == drain) return Events{};
  return Events{{now, NodeDrained{command.node, std::move(drain)}}};
}

Result<Events> resume_node(const ClusterState& state, const ResumeNode& command, Time now) {
  const Node* node = find_node(state, command.node);
  if (!node) return no_such_node(command.node);
  const bool avoided = std::ranges::any_of(state.jobs, [&](const auto& entry) {
    return std::ranges::find(entry.second.avoid, command.node) != entry.second.avoid.end();
  });
  if (!node->drain && node->suspicions.empty() && !avoided) return Events{};
  return Events{{now, NodeResumed{command.node, ""}}};
}

Result<Events> reserve_node(const ClusterState& state, const ReserveNode& command, Time now) {
  const Node* node = find_node(state, command.node);
  if (!node) return no_such_node(command.node);
  Errors errors = check_window(command, now);
  if (const auto bad = bad_account_name(command.account))
    errors.push_back({ErrorCode::invalid, *bad, "/account"});
  else if (!account_exists(state, command.account))
    errors.push_back(no_such_account(command.account, "/account"));
  if (!errors.empty()) return errors;
  NodeReservation reservation{command.account, command.reason, command.from, command.until};
  if (reservation.from && *reservation.from <= now) reservation.from.reset();
  if (node->reservation == reservation) return Events{};
  return Events{{now, NodeReserved{command.node, std::move(reservation)}}};
}

Result<Events> unreserve_node(const ClusterState& state, const UnreserveNode& command, Time now) {
  const Node* node = find_node(state, command.node);
  if (!node) return no_such_node(command.node);
  if (!node->reservation) return Events{};
  return Events{{now, NodeUnreserved{command.node, ""}}};
}

Result<Events> label_node(const ClusterState& state, const LabelNode& command, Time now) {
  const Node* node = find_node(state, command.node);
  if (!node) return no_such_node(command.node);
  if (Errors errors = label_problems(command); !errors.empty()) return errors;
  Labels labels = node->operator_labels;
  for (const auto& [key, value] : command.labels) {
    if (value)
      labels[key] = *value;
    else
      labels.erase(key);
  }
  if (labels.size() > kMostNodeLabels)
    return Error{ErrorCode::invalid, "a node has at most 64 labels of its operators", "/labels"};
  if (labels == node->operator_labels) return Events{};
  return Events{{now, NodeLabelled{command.node, std::move(labels)}}};
}

Result<Events> adopt_node(const ClusterState& state, const AdoptNode& command, Time now) {
  const Node* node = find_node(state, command.node);
  if (!node) return no_such_node(command.node);
  if (node->unknown.empty())
    return Error{ErrorCode::conflict,
                 command.node.value + " has no unknown tasks: it works for this cluster already", ""};
  return Events{{now, NodeAdopted{command.node, command.stop}}};
}

void end_windows(const ClusterState& state, Time now, Events& events) {
  for (const NodeId& id : state.indexes.windows) {
    const auto [drained, reserved] = state.nodes.at(id).window_ends();
    if (drained && *drained <= now)
      events.push_back({now, NodeResumed{id, "its maintenance window is over"}});
    if (reserved && *reserved <= now) events.push_back({now, NodeUnreserved{id, "its time is over"}});
  }
}

}  // namespace podium
