// The wire names of the enums of events, for codecs and for the store, which keeps the events.
#pragma once

#include "common/model/codec.h"
#include "coordinator/core/events/events.h"
#include "coordinator/core/state/names.h"

namespace podium {

inline constexpr EnumNames<RestartCause, 8> kRestartCauses{{{RestartCause::none, ""},
                                                            {RestartCause::failure, "failure"},
                                                            {RestartCause::requeue, "requeue"},
                                                            {RestartCause::move, "move"},
                                                            {RestartCause::node_loss, "node_loss"},
                                                            {RestartCause::preemption, "preemption"},
                                                            {RestartCause::resize, "resize"},
                                                            {RestartCause::promotion, "promotion"}}};

}  // namespace podium
