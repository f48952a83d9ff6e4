// podium webhooks: how far each is, and what a test says.
#include "tests/cli/command_fixture.h"

namespace podium {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

json webhook() {
  return {{"name", "ops"},
          {"address", "https://hooks.example.org:443"},
          {"events", {"job.ended", "node.lost"}},
          {"waiting", 3},
          {"delivered", 12},
          {"failed", 4},
          {"expired", 1},
          {"lost", 2},
          {"last_delivered_ms", nullptr},
          {"failing", true},
          {"error", "the receiver answered 500"},
          {"failed_ms", 1'700'000'000'000}};
}

TEST_F(Commands, WebhooksAreListedWithWhatTheirReceiversAnswer) {
  json well = webhook();
  well.update({{"name", "all"}, {"failing", false}, {"expired", 0}, {"lost", 0}, {"waiting", 0}});
  well["events"] = {"a", "b", "c", "d", "e", "f", "g"};
  json fresh = well;
  fresh.update({{"name", "new"}, {"error", ""}, {"failed_ms", nullptr}});
  fake_.on("GET /api/v1/webhooks", json{{"webhooks", {webhook(), well, fresh}}});
  const auto ran = program_.run({"webhooks"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("WEBHOOK  ADDRESS                        EVENTS                "));
  EXPECT_THAT(ran.out, HasSubstr("ops      https://hooks.example.org:443  job.ended, node.lost"));
  EXPECT_THAT(ran.out, HasSubstr("failing: the receiver answered 500\n"));
  EXPECT_THAT(ran.out, testing::EndsWith("DELIVERED and LAST are since the coordinator's start.\n"));
  EXPECT_THAT(ran.out, HasSubstr("all      https://hooks.example.org:443  all "));
  EXPECT_THAT(ran.out, HasSubstr("ago: the receiver answered 500\n"));
  EXPECT_THAT(ran.out, HasSubstr(" 3  ")) << "waiting, and dropped for either reason";
  EXPECT_EQ(json::parse(program_.run({"webhooks", "--json"}).out).at("webhooks").at(0), webhook());
}

TEST_F(Commands, WhereThereIsNoWebhookItIsSaidHowToMakeOne) {
  fake_.on("GET /api/v1/webhooks", json{{"webhooks", json::array()}});
  EXPECT_THAT(program_.run({"webhooks"}).out,
              HasSubstr("No webhooks. The coordinator's webhooks.yaml lists them"));
}

TEST_F(Commands, ATestOfAWebhookSaysWhatWasAnswered) {
  const char* const path = "POST /api/v1/webhooks/ops/test";
  fake_.on(path, json{{"name", "ops"}, {"delivered", true}, {"status", 204}, {"error", ""}});
  fake_.on(path,
           json{{"name", "ops"}, {"delivered", false}, {"status", nullptr}, {"error", "cannot connect"}});
  auto ran = program_.run({"webhooks", "test", "ops"});
  EXPECT_EQ(std::pair(ran.status, ran.out),
            std::pair(0, std::string("webhook ops has taken the test: its receiver answered 204\n")));
  ran = program_.run({"webhooks", "test", "ops"});
  EXPECT_EQ(ran.status, 4);
  EXPECT_THAT(ran.err, HasSubstr("webhook ops has not taken the test: cannot connect"));
  ran = program_.run({"webhooks", "test", "ops", "--json"});
  EXPECT_EQ(json::parse(ran.out).at("delivered"), false);
  EXPECT_EQ(ran.status, 4);
}

}  // namespace
}  // namespace podium
