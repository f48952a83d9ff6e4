#include "worker/commands/json_lines.h"

#include <gmock/gmock.h>

namespace podium {
namespace {

using nlohmann::ordered_json;
using testing::HasSubstr;
using testing::ThrowsMessage;

const LinePlace kPlace{"lines.jsonl", 7};

JsonLine parsed(std::string_view line) { return JsonLine(line, kPlace); }

std::string told_id(std::string_view line) {
  ordered_json object = ordered_json::object();
  parsed(line).id().add_to(object);
  return object.dump();
}

TEST(JsonLines, AnIdComesBackAsItWasGiven) {
  EXPECT_EQ(told_id(R"({"id": 3})"), R"({"id":3})");
  EXPECT_EQ(told_id(R"({"id": "3"})"), R"({"id":"3"})");
  EXPECT_EQ(told_id(R"({"id": -9007199254740993})"), R"({"id":-9007199254740993})");
  EXPECT_EQ(told_id(R"({"id": ""})"), R"({"id":""})");
  EXPECT_EQ(told_id("{}"), "{}");
  EXPECT_EQ(parsed(R"({"id": 3})").id().text(), "3");
  EXPECT_EQ(parsed(R"({"id": "a b"})").id().text(), "a b");
  EXPECT_EQ(parsed("{}").id().text(), "");
}

TEST(JsonLines, AnIdOfAnotherTypeIsRefused) {
  for (const char* id : {"null", "true", "1.5", "1e3", "[1]", R"({"a":1})", "123456789012345678901234567890"})
    EXPECT_THAT([&] { (void)parsed(std::string(R"({"id": )") + id + "}").id(); },
                ThrowsMessage<BadData>(HasSubstr("lines.jsonl:7: the \"id\" is ")))
        << id;
}

TEST(JsonLines, AKeyThatIsNotUsedIsRefused) {
  EXPECT_THAT(
      [] {
        parsed(R"({"text": "a", "pairs": "b"})").refuse_others({"text", "pair"});
      },
      ThrowsMessage<BadData>(
          "lines.jsonl:7: \"pairs\" is no key here; beside an \"id\" there may be \"text\", \"pair\""));
  EXPECT_NO_THROW(parsed(R"({"text": "a", "id": 1})").refuse_others({"text", "pair"}));
}

TEST(JsonLines, AKeyThatIsThereTwiceIsRefused) {
  EXPECT_THAT([] { parsed(R"({"text": "a", "text": "b"})"); },
              ThrowsMessage<BadData>("lines.jsonl:7: has two members \"text\""));
}

}  // namespace
}  // namespace podium
