#include "worker/data/megatron_writer.h"

#include <gmock/gmock.h>

#include <cstring>

#include "common/base/file.h"
#include "tests/temp_folder.h"
#include "tests/worker/data/megatron_files.h"
#include "tests/worker/shared_data.h"
#include "worker/data/failure.h"
#include "worker/data/megatron_data.h"

namespace podium {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

namespace fs = std::filesystem;

// Each document by itself, as whoever reads text would.
void append(MegatronWriter& writer, std::int64_t bytes,
            const std::vector<std::vector<std::int32_t>>& document) {
  std::vector<std::byte> tokens;
  std::vector<std::int32_t> lengths;
  for (const auto& sequence : document) {
    for (const std::int32_t token : sequence)
      for (std::int64_t i = 0; i < bytes; ++i) tokens.push_back(static_cast<std::byte>(token >> (8 * i)));
    lengths.push_back(static_cast<std::int32_t>(sequence.size()));
  }
  const std::int64_t end = std::ssize(lengths);
  writer.append(tokens, lengths, std::span(&end, 1));
}

std::string both(const fs::path& name) {
  return read_file(name.string() + ".bin") + "|" + read_file(name.string() + ".idx");
}

TEST(MegatronWriter, TypesAreMegatrons) {
  EXPECT_EQ(megatron_token_type(65'499).code, 8);
  EXPECT_EQ(megatron_token_type(65'499).bytes, 2);
  EXPECT_EQ(megatron_token_type(65'500).code, 4);
  EXPECT_EQ(megatron_token_type(65'500).bytes, 4);
}

TEST(MegatronWriter, WritesTheBytesOfThePublishedFormat) {
  const TempFolder folder;
  const std::vector<std::vector<std::int32_t>> sequences{{1, 2, 300}, {5}, {7, 8}};
  write_megatron<std::uint16_t>(folder.path() / "expected", sequences, 8);
  MegatronWriter writer(folder.path() / "made", {8, 2}, {});
  for (const auto& sequence : sequences) append(writer, 2, {sequence});
  writer.sync();
  EXPECT_FALSE(fs::exists(folder.path() / "made.bin"));
  writer.finish();
  EXPECT_EQ(both(folder.path() / "made"), both(folder.path() / "expected"));
}

TEST(MegatronWriter, DocumentsOfSentencesAreRead) {
  const TempFolder folder;
  MegatronWriter writer(folder.path() / "made", {4, 4}, {});
  append(writer, 4, {{1, 2}, {3}, {4}});
  append(writer, 4, {{70'000}});
  writer.finish();
  MegatronWriter::remove_parts(folder.path() / "made");
  const MegatronData data(folder.path() / "made.bin");
  EXPECT_EQ(data.documents(), 2);
  EXPECT_EQ(data.document_sequence(1), 3);
  std::vector<std::int32_t> ids(5);
  data.read(0, 100'000, ids);
  EXPECT_THAT(ids, testing::ElementsAre(1, 2, 3, 4, 70'000));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 2);
}

TEST(MegatronWriter, GoesOnFromAStateAndForgetsWhatCameBehindIt) {
  const TempFolder folder;
  const fs::path whole = folder.path() / "whole";
  {
    MegatronWriter writer(whole, {8, 2}, {});
    append(writer, 2, {{1, 2}, {3}});
    append(writer, 2, {{4}});
    writer.finish();
  }
  const fs::path name = folder.path() / "interrupted";
  MegatronState state;
  {
    MegatronWriter writer(name, {8, 2}, {});
    append(writer, 2, {{1, 2}, {3}});
    writer.sync();
    state = writer.state();
    append(writer, 2, {{9, 9, 9}});
    EXPECT_THAT(
        [&] {
          MegatronWriter(name, {8, 2}, state);
        },
        ThrowsMessage<Failure>(HasSubstr("another process writes")));
  }
  {
    MegatronWriter writer(name, {8, 2}, state);
    append(writer, 2, {{4}});
    state = writer.state();
    writer.finish();
  }
  EXPECT_EQ(both(name), both(whole));
  fs::remove(name.string() + ".idx");  // killed between the two renames
  MegatronWriter(name, {8, 2}, state, true).finish();
  EXPECT_EQ(both(name), both(whole));
}

TEST(MegatronWriter, FilesThatLackWhatWasWrittenAreRefused) {
  const TempFolder folder;
  EXPECT_THAT(
      [&] {
        MegatronWriter(folder.path() / "made", {8, 2}, {8, 2, 1});
      },
      ThrowsMessage<Failure>(HasSubstr("made.bin.part lacks what was written")));
}

// What Megatron-LM's own program has written is written again, byte for byte.
TEST(MegatronWriter, FixturesAreWrittenAgain) {
  const TempFolder folder;
  for (const char* name : {"meg-gpt2-openwebtext_text_document", "ag_news_prompt_inputs_document"}) {
    const auto fixture = shared_data(std::string("megatron_indexed/") + name + ".bin");
    if (!fixture) GTEST_SKIP() << "skipped: no shared data";
    const MegatronData data(*fixture);
    const MegatronTokenType type = megatron_token_type(name[0] == 'm' ? 5'000 : 250'700);
    MegatronWriter writer(folder.path() / "again", type, {});
    std::int64_t begin = 0;
    for (std::int64_t i = 0; i < data.documents(); ++i) {
      std::vector<std::vector<std::int32_t>> document;
      for (std::int64_t s = data.document_sequence(i); s < data.document_sequence(i + 1); ++s) {
        document.emplace_back(static_cast<std::size_t>(data.sequence_length(s)));
        data.read(begin, 250'700, document.back());
        begin += data.sequence_length(s);
      }
      append(writer, type.bytes, document);
    }
    writer.finish();
    EXPECT_TRUE(both(folder.path() / "again") == both(fs::path(*fixture).replace_extension())) << name;
    fs::remove(folder.path() / "again.bin");
  }
}

}  // namespace
}  // namespace podium
