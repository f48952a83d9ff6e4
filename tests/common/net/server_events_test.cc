#include "common/net/server_events.h"

#include <gtest/gtest.h>

#include <vector>

namespace podium {
namespace {

std::vector<ServerEvent> drain(ServerEventParser& parser) {
  std::vector<ServerEvent> events;
  while (auto event = parser.next()) events.push_back(std::move(*event));
  return events;
}

const std::vector<ServerEvent> kEvents{
    {"7", "job", R"({"id":1})"}, {"8", "node", "two\nlines"}, {"", "message", "x"}};

TEST(ServerEvents, ReadsBackWhatItWritesByteByByte) {
  std::string text = ": a comment\n\n";
  for (const ServerEvent& event : kEvents) text += format_event(event);
  ServerEventParser parser;
  std::vector<ServerEvent> seen;
  for (const char c : text) {
    parser.feed({&c, 1});
    for (ServerEvent& event : drain(parser)) seen.push_back(std::move(event));
  }
  EXPECT_EQ(seen, kEvents);
}

TEST(ServerEvents, UnderstandsCarriageReturnsAndFieldsWithoutASpace) {
  ServerEventParser parser;
  parser.feed("id:3\r\ndata:a\r\nretry: 10\r\n\r\nevent: lonely\n\n");
  EXPECT_EQ(drain(parser), (std::vector<ServerEvent>{{"3", "message", "a"}}));
}

TEST(ServerEvents, KeepsAnUnfinishedEventForLater) {
  ServerEventParser parser;
  parser.feed("data: half");
  EXPECT_TRUE(drain(parser).empty());
  parser.feed(" and half\n\n");
  EXPECT_EQ(drain(parser).at(0).data, "half and half");
}

}  // namespace
}  // namespace podium
