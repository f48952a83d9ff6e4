// Which notices a webhook is sent.
#pragma once

#include <set>
#include <string>

#include "coordinator/webhooks/notices/notice.h"

namespace podium {

struct WebhookFilter {
  std::string webhook;  // its name
  std::set<NoticeType> types;
  int queue = 10'000;  // most that wait for it; beyond, the oldest are dropped
};

}  // namespace podium
