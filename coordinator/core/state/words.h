// Counts and lists in sentences for people.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "common/base/id.h"

namespace podium {

std::string count(std::int64_t n, const std::string& one);  // "1 device", "3 devices"

std::string listed(const std::vector<NodeId>& nodes);  // "node-1, node-2, node-3 and 5 more"
std::string listed(const std::set<JobId>& jobs);       // "job 3"; "jobs 1, 4–9, 12 and 5 more"

}  // namespace podium
