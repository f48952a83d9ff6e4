// Jobs of one class are alike but for their rank: of one account, and of one shape, so that where one does
// not fit none does.
#pragma once

#include <map>
#include <string>

#include "common/model/job.h"

namespace podium {

using Labels = std::map<std::string, std::string>;

// What decides where a job fits: jobs of one shape fit or do not fit together.
struct Shape {
  int devices = 1;
  int per_node = 0;
  Labels nodes = {};  // that its nodes must have
  Within within = Within::anywhere;
  int tensor = 1;
  int pipeline = 1;

  auto operator<=>(const Shape&) const = default;
};

inline Shape shape_of(const JobRequest& request) {
  return {request.devices, request.per_node, request.nodes, request.within, request.tensor, request.pipeline};
}

struct JobClass {
  std::string account;
  Shape shape;

  auto operator<=>(const JobClass&) const = default;
};

inline JobClass class_of(const JobRequest& request) { return {request.account, shape_of(request)}; }

}  // namespace podium
