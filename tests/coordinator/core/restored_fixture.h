// Nodes that know more than the coordinator's database, for it is an older copy that was restored.
#pragma once

#include "tests/coordinator/core/nodes_fixture.h"

namespace podium {

class RestoredDatabase : public Nodes {
 protected:
  // As after an interruption; what ran there and is forgotten.
  Result<Events> tell_ended(const NodeDescription& node, std::vector<AttemptId> ended,
                            std::vector<TaskReport> tasks = {}) {
    NodeReport report{node, std::move(tasks), 0};
    report.interrupted = true;
    report.ended = std::move(ended);
    return turn(NodeReported{report});
  }

  static TaskReport running(TaskId task) { return {task, TaskState::running, 1, {}}; }
};

}  // namespace podium
