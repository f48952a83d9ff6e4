#include "coordinator/store/webhook_rows.h"

#include <spdlog/spdlog.h>

#include <algorithm>

namespace podium {
namespace {

constexpr int kRowsCacheKib = 256;
constexpr std::size_t kDroppedKnown = 10'000;  // far more than are sent in the time of one attempt

}  // namespace

WebhookRows::WebhookRows(Database& database, std::vector<WebhookFilter> webhooks)
    : database_(database),
      webhooks_(std::move(webhooks)),
      insert_(database,
              "INSERT INTO webhook_queue (webhook, subject, at_ms, notice, type, body)"
              " VALUES (?1, ?2, ?3, ?4, ?5, ?6)"),
      remove_(database, "DELETE FROM webhook_queue WHERE id = ?1"),
      job_(database,
           "SELECT j.name, j.experiment, e.name, j.account, j.kind, j.state, j.devices, j.attempt,"
           " (j.target_reached_ms - j.started_ms) / 1000.0"
           " FROM jobs j JOIN experiments e ON e.id = j.experiment WHERE j.id = ?1"),
      id_(database, "SELECT lower(hex(randomblob(16)))"),
      cluster_row_(database, "SELECT id FROM cluster"),
      trim_(database,
            "DELETE FROM webhook_queue WHERE webhook = ?1 AND id <= (SELECT id FROM webhook_queue"
            " WHERE webhook = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2) RETURNING id"),
      lose_(database,
            "INSERT INTO webhook_losses VALUES (?1, ?2)"
            " ON CONFLICT DO UPDATE SET notices = notices + excluded.notices") {
  Statement names(database, "SELECT webhook, count(*) FROM webhook_queue GROUP BY webhook");
  Statement drop(database, "DELETE FROM webhook_queue WHERE webhook = ?1");
  std::map<std::string, std::int64_t> waiting;
  for (names.start(); names.next();) waiting[names.text(0)] = names.integer(1);
  for (const auto& [name, count] : waiting) {
    if (std::ranges::count(webhooks_, name, &WebhookFilter::webhook) > 0) continue;
    drop.run(name);
    spdlog::warn("webhook \"{}\" is configured no longer; the {} notices that waited for it are dropped",
                 name, count);
  }
}

void WebhookRows::take(const Event& event) {
  if (webhooks_.empty()) return;
  if (const std::optional<Notice> notice = notice_of(event)) take(*notice);
}

void WebhookRows::take(const Notice& notice) {
  std::string id, body;
  for (const WebhookFilter& each : webhooks_) {
    if (!each.types.contains(notice.type)) continue;
    if (body.empty()) {
      id = random_id();
      body = payload(notice, id, cluster_, notice.job ? find_job(*notice.job) : std::nullopt);
    }
    insert_.run(each.webhook, notice.subject, to_millis(SystemClock().now()), id, to_string(notice.type),
                body);
    added_ = true;
  }
}

std::optional<NoticedJob> WebhookRows::find_job(JobId job) {
  job_.start(job.value);
  if (!job_.next()) return std::nullopt;
  NoticedJob found{job_.text(0), {job_.integer(1)}, job_.text(2),  job_.text(3),         job_.text(4),
                   job_.text(5), job_.small(6),     job_.small(7), job_.optional_real(8)};
  job_.next();
  return found;
}

std::string WebhookRows::random_id() {
  if (cluster_.empty()) {
    cluster_row_.start();
    if (cluster_row_.next()) cluster_ = cluster_row_.text(0);
    cluster_row_.start();
  }
  id_.start();
  id_.next();
  std::string id = id_.text(0);
  id_.next();
  return id;
}

void WebhookRows::remove(const std::vector<std::int64_t>& ids) {
  for (const std::int64_t id : ids) {
    remove_.run(id);
    if (sqlite3_changes(database_.handle()) > 0) continue;
    if (const auto dropped = dropped_.find(id); dropped != dropped_.end()) lose_.run(dropped->second, -1);
  }
}

void WebhookRows::trim() {
  if (!std::exchange(added_, false)) return;
  for (const WebhookFilter& each : webhooks_) {
    int dropped = 0;
    for (trim_.start(each.webhook, each.queue); trim_.next(); ++dropped)
      dropped_.emplace(trim_.integer(0), each.webhook);
    if (dropped == 0) continue;
    lose_.run(each.webhook, dropped);
    spdlog::error(
        "webhook \"{}\" has not taken {} notices, the most that wait for it; the {} oldest are dropped. "
        "podium webhooks says what its receiver answers",
        each.webhook, each.queue, dropped);
  }
  while (dropped_.size() > kDroppedKnown) dropped_.erase(dropped_.begin());
}

WebhookReader::WebhookReader(const std::filesystem::path& home)
    : database_(home / "podium.db", Access::read, kRowsCacheKib),
      queued_(
          database_,
          "SELECT id, subject, at_ms FROM webhook_queue WHERE webhook = ?1 AND id > ?2 ORDER BY id LIMIT ?3"),
      first_(database_, "SELECT min(id) FROM webhook_queue WHERE webhook = ?1"),
      text_(database_, "SELECT notice, type, body FROM webhook_queue WHERE id = ?1"),
      lost_(database_, "SELECT coalesce(sum(notices), 0) FROM webhook_losses WHERE webhook = ?1") {}

std::vector<QueuedNotice> WebhookReader::queued(const std::string& webhook, std::int64_t after, int most) {
  std::vector<QueuedNotice> found;
  for (queued_.start(webhook, after, most); queued_.next();)
    found.push_back({queued_.integer(0), queued_.text(1), from_millis(queued_.integer(2))});
  return found;
}

std::optional<std::int64_t> WebhookReader::first(const std::string& webhook) {
  first_.start(webhook);
  first_.next();
  const auto row = first_.optional_integer(0);
  first_.next();
  return row;
}

std::optional<NoticeText> WebhookReader::text(std::int64_t row) {
  std::optional<NoticeText> found;
  for (text_.start(row); text_.next();) found = {text_.text(0), text_.text(1), text_.text(2)};
  return found;
}

std::int64_t WebhookReader::lost(const std::string& webhook) {
  lost_.start(webhook);
  lost_.next();
  const std::int64_t notices = lost_.integer(0);
  lost_.next();
  return notices;
}

}  // namespace podium
