#include "coordinator/webhooks/webhooks.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "tests/coordinator/store/store_fixture.h"

namespace podium {
namespace {

using boost::asio::ip::tcp;

TEST(Webhooks, ATestThatIsUnderWayDoesNotHoldUpTheEnd) {
  boost::asio::io_context io;
  tcp::acceptor silent(io, {boost::asio::ip::address_v4::loopback(), 0});
  WebhookConfig config;
  config.name = "ops";
  config.url = {false, "127.0.0.1", silent.local_endpoint().port(), "/"};
  config.timeout = std::chrono::minutes(1);
  TempFolder home;
  Store store(home.path(), at_once(), {});
  store.begin("the-cluster");
  store.load({});
  auto webhooks = std::make_unique<Webhooks>(std::vector{config}, store, home.path());
  webhooks->start();

  std::optional<Delivery> delivery;
  boost::asio::co_spawn(io, webhooks->test("ops", "the-cluster"),
                        [&](std::exception_ptr, std::optional<Delivery> got) { delivery = std::move(got); });
  tcp::socket connection(io);
  silent.async_accept(connection, [&](boost::system::error_code) { webhooks.reset(); });
  io.run();
  ASSERT_TRUE(delivery.has_value());
  EXPECT_FALSE(delivery->ok);
  EXPECT_NE(delivery->error.find("cancelled"), std::string::npos)
      << delivery->error << ": it is broken off, not waited for";
}

}  // namespace
}  // namespace podium
