// What is told to webhooks: which events are notices, and the JSON that goes out
// (schemas/webhook.schema.json). Pure.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "coordinator/core/events/events.h"

namespace podium {

enum class NoticeType {
  job_submitted,
  job_started,    // each attempt of which all tasks run
  job_restarted,  // it is queued again after an attempt, or after it had ended
  job_ended,
  target_reached,
  node_lost,
  node_back,
  test
};

// Of what happens by itself.
inline constexpr NoticeType kEventNotices[] = {
    NoticeType::job_submitted,  NoticeType::job_started, NoticeType::job_restarted, NoticeType::job_ended,
    NoticeType::target_reached, NoticeType::node_lost,   NoticeType::node_back};

std::string_view to_string(NoticeType type);  // "job.submitted"
std::optional<NoticeType> notice_type_from(std::string_view text);

struct Notice {
  NoticeType type = NoticeType::test;
  std::string subject;  // "job 12", "node gpu-1": those of one are delivered in their order
  Time at;
  std::optional<JobId> job = {};
  nlohmann::json details = nlohmann::json::object();  // merged into the payload

  bool operator==(const Notice&) const = default;
};

// Nothing where webhooks are not told of the event.
std::optional<Notice> notice_of(const Event& event);
Notice target_reached(JobId job, Time at, std::string_view metric, double value, std::int64_t step);
Notice test_notice(Time at);

// A job as the payload has it, after the event.
struct NoticedJob {
  std::string name;
  ExperimentId experiment;
  std::string experiment_name, account, kind, state;
  int devices = 0;
  int attempt = 0;
  std::optional<double> time_to_train_seconds;
};

// `id` is the notice's, `cluster` the cluster's; `job` is that of notice.job.
std::string payload(const Notice& notice, const std::string& id, const std::string& cluster,
                    const std::optional<NoticedJob>& job);

}  // namespace podium
