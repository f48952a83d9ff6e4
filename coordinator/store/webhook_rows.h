// The tables `webhook_queue` and `webhook_losses`: notices that webhooks have not been sent yet. Those of an
// event are rows of its transaction, so none is lost and none tells what did not happen.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/store/sqlite.h"
#include "coordinator/store/webhook_filter.h"
#include "coordinator/webhooks/notices/notice.h"

namespace podium {

// On the writer's thread.
class WebhookRows {
 public:
  // Drops what waits for webhooks that are gone.
  WebhookRows(Database& database, std::vector<WebhookFilter> webhooks);

  // In the transaction of what is told, after the job's row has changed.
  void take(const Event& event);
  void take(const Notice& notice);
  // What has been sent or given up. One that a full queue dropped meanwhile is not lost after all.
  void remove(const std::vector<std::int64_t>& ids);
  // Before the transaction's end: drops the oldest of those that are too many.
  void trim();

 private:
  std::optional<NoticedJob> find_job(JobId job);
  std::string random_id();

  Database& database_;
  std::vector<WebhookFilter> webhooks_;
  std::string cluster_;
  bool added_ = false;                           // since the last trim()
  std::map<std::int64_t, std::string> dropped_;  // by a full queue, the newest: the webhook of each row
  Statement insert_, remove_, job_, id_, cluster_row_, trim_, lose_;
};

struct QueuedNotice {
  std::int64_t row = 0;
  std::string subject;
  Time at;  // when it was written
};

struct NoticeText {
  std::string id, type, body;
};

// On any one thread, over a connection of its own.
class WebhookReader {
 public:
  explicit WebhookReader(const std::filesystem::path& home);

  // Of a webhook, behind the row `after`, oldest first.
  std::vector<QueuedNotice> queued(const std::string& webhook, std::int64_t after, int most);
  std::optional<std::int64_t> first(const std::string& webhook);  // row; nothing where none waits
  std::optional<NoticeText> text(std::int64_t row);
  std::int64_t lost(const std::string& webhook);  // by a full queue

 private:
  Database database_;
  Statement queued_, first_, text_, lost_;
};

}  // namespace podium
