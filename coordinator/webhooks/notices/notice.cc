#include "coordinator/webhooks/notices/notice.h"

#include <algorithm>

#include "common/base/overloaded.h"
#include "coordinator/core/events/names.h"

namespace podium {
namespace {

using nlohmann::json;

constexpr EnumNames<NoticeType, 8> kNoticeTypes{{{NoticeType::job_submitted, "job.submitted"},
                                                 {NoticeType::job_started, "job.started"},
                                                 {NoticeType::job_restarted, "job.restarted"},
                                                 {NoticeType::job_ended, "job.ended"},
                                                 {NoticeType::target_reached, "job.target_reached"},
                                                 {NoticeType::node_lost, "node.lost"},
                                                 {NoticeType::node_back, "node.back"},
                                                 {NoticeType::test, "test"}}};

Notice of_job(NoticeType type, Time at, JobId job, json details) {
  return {type, "job " + to_string(job), at, job, std::move(details)};
}

Notice of_restart(Time at, JobId job, RestartCause cause, const std::string& reason) {
  return of_job(NoticeType::job_restarted, at, job,
                {{"cause", enum_name(kRestartCauses, cause)}, {"reason", reason}});
}

Notice of_node(NoticeType type, Time at, const NodeStateChanged& e) {
  json node{{"name", e.node.value}, {"state", to_string(e.to)}};
  return {type, "node " + e.node.value, at, std::nullopt, {{"node", std::move(node)}, {"reason", e.reason}}};
}

}  // namespace

std::string_view to_string(NoticeType type) { return enum_name(kNoticeTypes, type); }

std::optional<NoticeType> notice_type_from(std::string_view text) {
  const auto found = std::ranges::find(kNoticeTypes, text, [](const auto& named) { return named.second; });
  return found == kNoticeTypes.end() ? std::nullopt : std::optional(found->first);
}

std::optional<Notice> notice_of(const Event& event) {
  const Time at = event.at;
  using Maybe = std::optional<Notice>;
  return std::visit(Overloaded{[&](const JobQueued& e) -> Maybe {
                                 return of_job(NoticeType::job_submitted, at, e.job, json::object());
                               },
                               [&](const JobStateChanged& e) -> Maybe {
                                 if (e.to == JobState::running)
                                   return of_job(NoticeType::job_started, at, e.job, json::object());
                                 if (is_terminal(e.from) && e.to == JobState::queued)
                                   return of_restart(at, e.job, RestartCause::requeue, e.reason);
                                 if (!is_terminal(e.to)) return std::nullopt;
                                 return of_job(NoticeType::job_ended, at, e.job, {{"reason", e.reason}});
                               },
                               [&](const AttemptEnded& e) -> Maybe {
                                 if (e.restart == RestartCause::none) return std::nullopt;
                                 return of_restart(at, e.attempt.job, e.restart, e.reason);
                               },
                               [&](const NodeStateChanged& e) -> Maybe {
                                 if (e.to == NodeState::lost) return of_node(NoticeType::node_lost, at, e);
                                 if (e.from != NodeState::lost) return std::nullopt;
                                 return of_node(NoticeType::node_back, at, e);
                               },
                               [](const auto&) -> Maybe { return std::nullopt; }},
                    event.body);
}

Notice target_reached(JobId job, Time at, std::string_view metric, double value, std::int64_t step) {
  return of_job(NoticeType::target_reached, at, job,
                {{"target", {{"metric", metric}, {"value", number_to_json(value)}, {"step", step}}}});
}

Notice test_notice(Time at) { return {NoticeType::test, "", at}; }

std::string payload(const Notice& notice, const std::string& id, const std::string& cluster,
                    const std::optional<NoticedJob>& job) {
  json out = notice.details;
  out["version"] = 1;
  out["id"] = id;
  out["type"] = to_string(notice.type);
  out["at_ms"] = to_millis(notice.at);
  out["cluster"] = cluster;
  if (job)
    out["job"] = {{"id", notice.job->value},
                  {"name", job->name},
                  {"experiment", job->experiment.value},
                  {"experiment_name", job->experiment_name},
                  {"account", job->account},
                  {"kind", job->kind},
                  {"devices", job->devices},
                  {"attempt", job->attempt},
                  {"state", job->state}};
  if (job && job->time_to_train_seconds) out["job"]["time_to_train_seconds"] = *job->time_to_train_seconds;
  return dump(out);
}

}  // namespace podium
