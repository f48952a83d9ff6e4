// Whom the coordinator tells what happens: webhooks.yaml, which operators write. Nothing else chooses an
// address, and its secrets, with the path of its address, are shown nowhere.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/base/time.h"
#include "common/net/url.h"
#include "coordinator/store/webhook_filter.h"

namespace podium {

struct WebhookConfig {
  std::string name;
  Url url;
  std::string secret;
  std::string ca;  // PEM file; "": the system's authorities
  std::set<NoticeType> types;
  Duration timeout = std::chrono::seconds(10);  // of one attempt
  int queue = WebhookFilter{}.queue;

  WebhookFilter filter() const { return {name, types, queue}; }
};

// Every mistake with its line (schemas/webhooks.schema.json). Secrets of files are read.
Result<std::vector<WebhookConfig>> load_webhooks(const std::filesystem::path& file);

}  // namespace podium
