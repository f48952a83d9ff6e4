// Strong identifiers: a JobId is not an ExperimentId, and neither is an integer.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <string>

namespace podium {

template <class Tag, class Rep = std::int64_t>
struct Id {
  Rep value{};
  auto operator<=>(const Id&) const = default;
};

using JobId = Id<struct JobTag>;
using ExperimentId = Id<struct ExperimentTag>;
using NodeId = Id<struct NodeTag, std::string>;  // the node's name, unique in the cluster

// One launch of a job's whole gang; `number` counts from 1 and is the fencing epoch.
struct AttemptId {
  JobId job;
  std::int32_t number = 0;
  auto operator<=>(const AttemptId&) const = default;
};

// One process of an attempt.
struct TaskId {
  AttemptId attempt;
  std::int32_t rank = 0;
  auto operator<=>(const TaskId&) const = default;
};

inline std::string to_string(JobId id) { return std::to_string(id.value); }
inline std::string to_string(ExperimentId id) { return std::to_string(id.value); }
inline std::string to_string(const NodeId& id) { return id.value; }
inline std::string to_string(AttemptId id) { return to_string(id.job) + "." + std::to_string(id.number); }
inline std::string to_string(TaskId id) { return to_string(id.attempt) + "." + std::to_string(id.rank); }

}  // namespace podium

template <class Tag, class Rep>
struct std::hash<podium::Id<Tag, Rep>> {
  std::size_t operator()(const podium::Id<Tag, Rep>& id) const { return std::hash<Rep>{}(id.value); }
};
