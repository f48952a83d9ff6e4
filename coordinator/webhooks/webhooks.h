// Tells the receivers that operators configured what happens, in a thread of its own: the loop only says that
// there is something new in the store. Notices are rows of the store until they are delivered, at least once,
// in the order of their job or node.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/store/store.h"
#include "coordinator/webhooks/courier.h"

namespace podium {

class Webhooks {
 public:
  // The store must outlive it. Without configured webhooks it does nothing.
  Webhooks(std::vector<WebhookConfig> configs, Store& store, const std::filesystem::path& home);
  ~Webhooks();  // breaks off what is under way, tests too; the next start sends notices again

  void start();
  // From any thread: notices may have been committed.
  void wake();

  // Resume on the caller's executor.
  boost::asio::awaitable<std::vector<WebhookStatus>> status();
  // Sends a notice of the type test, now and once; where it is taken, what has failed follows at once.
  // Nothing where no webhook has the name.
  boost::asio::awaitable<std::optional<Delivery>> test(std::string name, std::string cluster);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;  // null without webhooks
};

}  // namespace podium
