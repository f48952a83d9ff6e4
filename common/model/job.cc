#include "common/model/job.h"

#include <algorithm>

#include "common/model/codec.h"

namespace podium {
namespace {

constexpr EnumNames<JobState, 8> kJobStates{{{JobState::queued, "queued"},
                                             {JobState::starting, "starting"},
                                             {JobState::running, "running"},
                                             {JobState::stopping, "stopping"},
                                             {JobState::succeeded, "succeeded"},
                                             {JobState::failed, "failed"},
                                             {JobState::cancelled, "cancelled"},
                                             {JobState::stopped, "stopped"}}};

constexpr EnumNames<AttemptEnd, 8> kEnds{{{AttemptEnd::succeeded, "succeeded"},
                                          {AttemptEnd::failed, "failed"},
                                          {AttemptEnd::preempted, "preempted"},
                                          {AttemptEnd::cancelled, "cancelled"},
                                          {AttemptEnd::node_lost, "node_lost"},
                                          {AttemptEnd::walltime, "walltime"},
                                          {AttemptEnd::resized, "resized"},
                                          {AttemptEnd::paused, "paused"}}};

constexpr EnumNames<When, 2> kWhens{{{When::ok, "ok"}, {When::any, "any"}}};

constexpr EnumNames<Within, 4> kWithin{{{Within::anywhere, "anywhere"},
                                        {Within::spine, "spine"},
                                        {Within::leaf_switch, "switch"},
                                        {Within::node, "node"}}};

constexpr std::pair<JobState, JobState> kTransitions[] = {
    {JobState::queued, JobState::starting},   {JobState::queued, JobState::cancelled},
    {JobState::starting, JobState::running},  {JobState::starting, JobState::stopping},
    {JobState::running, JobState::succeeded}, {JobState::running, JobState::failed},
    {JobState::running, JobState::cancelled}, {JobState::running, JobState::stopping},
    {JobState::stopping, JobState::queued},   {JobState::stopping, JobState::cancelled},
    {JobState::stopping, JobState::failed},   {JobState::stopping, JobState::succeeded},
    {JobState::failed, JobState::queued},     {JobState::cancelled, JobState::queued},
    {JobState::queued, JobState::stopped},    {JobState::stopped, JobState::queued},
};

}  // namespace

bool may_follow(JobState from, JobState to) {
  return std::ranges::find(kTransitions, std::pair{from, to}) != std::end(kTransitions);
}

bool is_terminal(JobState state) {
  return state == JobState::succeeded || state == JobState::failed || state == JobState::cancelled ||
         state == JobState::stopped;
}

std::string_view to_string(JobState state) { return enum_name(kJobStates, state); }
std::string_view to_string(AttemptEnd end) { return enum_name(kEnds, end); }
std::string_view to_string(When when) { return enum_name(kWhens, when); }
JobState job_state_from(std::string_view text) {
  std::string names;
  for (const auto& [state, name] : kJobStates) {
    if (name == text) return state;
    names += (names.empty() ? "" : ", ") + std::string(name);
  }
  throw std::invalid_argument("\"" + std::string(text) + "\" is no state of a job; they are " + names);
}

AttemptEnd attempt_end_from(std::string_view text) { return enum_value(kEnds, text, "attempt end"); }
When when_from(std::string_view text) { return enum_value(kWhens, text, "when"); }
std::string_view to_string(Within within) { return enum_name(kWithin, within); }
Within within_from(std::string_view text) { return enum_value(kWithin, text, "within"); }

}  // namespace podium
