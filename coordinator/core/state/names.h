// The wire names of the state's enums, for codecs.
#pragma once

#include "common/model/codec.h"
#include "coordinator/core/state/job.h"

namespace podium {

inline constexpr EnumNames<TaskPhase, 4> kTaskPhases{{{TaskPhase::ordered, "ordered"},
                                                      {TaskPhase::running, "running"},
                                                      {TaskPhase::exited, "exited"},
                                                      {TaskPhase::lost, "lost"}}};

inline constexpr EnumNames<StopCause, 10> kStopCauses{{{StopCause::none, "none"},
                                                       {StopCause::task_failed, "task_failed"},
                                                       {StopCause::node_lost, "node_lost"},
                                                       {StopCause::preempted, "preempted"},
                                                       {StopCause::cancelled, "cancelled"},
                                                       {StopCause::walltime, "walltime"},
                                                       {StopCause::requeued, "requeued"},
                                                       {StopCause::resized, "resized"},
                                                       {StopCause::paused, "paused"},
                                                       {StopCause::not_started, "not_started"}}};

inline constexpr EnumNames<Blame, 7> kBlames{{{Blame::none, "none"},
                                              {Blame::stopped, "stopped"},
                                              {Blame::peer_lost, "peer_lost"},
                                              {Blame::killed, "killed"},
                                              {Blame::failed, "failed"},
                                              {Blame::left, "left"},
                                              {Blame::taken, "taken"}}};

}  // namespace podium
