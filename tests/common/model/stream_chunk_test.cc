#include "common/model/stream_chunk.h"

#include <gtest/gtest.h>

#include <random>

namespace podium {
namespace {

constexpr TaskId kTask{{{12}, 3}, 1};

TEST(StreamChunk, CarriesAnyBytes) {
  std::string bytes;
  for (int i = 0; i < 512; ++i) bytes += static_cast<char>(i);
  std::string body;
  append_chunk(body, {kTask, StreamKind::out, 4096, bytes});
  append_chunk(body, {kTask, StreamKind::events, 0, ""});
  const auto chunks = parse_chunks(body);
  ASSERT_TRUE(chunks) << describe(chunks.errors());
  ASSERT_EQ(chunks->size(), 2u);
  EXPECT_EQ((*chunks)[0].task, kTask);
  EXPECT_EQ((*chunks)[0].offset, 4096);
  EXPECT_EQ((*chunks)[0].bytes, bytes);
  EXPECT_EQ((*chunks)[1].stream, StreamKind::events);
  EXPECT_TRUE((*chunks)[1].bytes.empty());
}

TEST(StreamChunk, RefusesWhatDoesNotFit) {
  for (const char* body :
       {"no json\n", "{}\n", R"({"job":1,"attempt":1,"rank":0,"stream":"events","offset":0,"length":5})",
        "{\"job\":1,\"attempt\":1,\"rank\":0,\"stream\":\"events\",\"offset\":0,\"length\":5}\nabc",
        "{\"job\":1,\"attempt\":1,\"rank\":0,\"stream\":\"events\",\"offset\":-1,\"length\":0}\n",
        "{\"job\":1,\"attempt\":1,\"rank\":0,\"stream\":\"events\",\"offset\":0,\"length\":-3}\n",
        "{\"job\":1,\"attempt\":1,\"rank\":0,\"stream\":\"other\",\"offset\":0,\"length\":0}\n"})
    EXPECT_FALSE(parse_chunks(body)) << body;
}

TEST(StreamChunk, RefusesMoreChunksThanABatchHolds) {
  std::string body;
  for (int i = 0; i < 10'000; ++i) append_chunk(body, {kTask, StreamKind::err, i, ""});
  EXPECT_TRUE(parse_chunks(body));
  append_chunk(body, {kTask, StreamKind::err, 0, ""});
  EXPECT_FALSE(parse_chunks(body));
}

TEST(StreamChunk, RandomDamageNeverEscapesAsAnException) {
  std::string body;
  for (int i = 0; i < 4; ++i) append_chunk(body, {kTask, StreamKind::err, i * 10, "0123456789"});
  std::mt19937 random(7);
  for (int i = 0; i < 20'000; ++i) {
    std::string damaged = body;
    for (int edits = 0; edits < 3; ++edits) damaged[random() % damaged.size()] = static_cast<char>(random());
    (void)parse_chunks(damaged);
  }
}

TEST(StreamPositions, AreReadBack) {
  const std::vector<StreamPosition> positions{{kTask, StreamKind::err, 99}, {kTask, StreamKind::events, 0}};
  EXPECT_EQ(positions_from_json(positions_to_json(positions)), positions);
}

}  // namespace
}  // namespace podium
