#include "worker/data/megatron_data.h"

#include <gmock/gmock.h>

#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "tests/temp_folder.h"
#include "tests/worker/data/megatron_files.h"
#include "tests/worker/shared_data.h"
#include "worker/input/bad_data.h"
#include "worker/tensor/random.h"

namespace podium {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

const std::vector<std::vector<std::int32_t>> kSequences{{1, 2, 3}, {}, {100, 127}, {4}};

std::vector<std::int32_t> read(const MegatronData& data, std::int64_t begin, std::int64_t end,
                               std::int32_t vocabulary_size = INT32_MAX) {
  std::vector<std::int32_t> ids(static_cast<std::size_t>(end - begin));
  data.read(begin, vocabulary_size, ids);
  return ids;
}

class MegatronDataTest : public testing::Test {
 protected:
  std::filesystem::path name() const { return folder_.path() / "data"; }

  template <class T>
  void check_type(std::uint8_t code) {
    const MegatronData data(write_megatron<T>(name(), kSequences, code));
    EXPECT_EQ(data.size(), 6) << int{code};
    EXPECT_EQ(read(data, 0, 6), (std::vector<std::int32_t>{1, 2, 3, 100, 127, 4})) << int{code};
    EXPECT_EQ(read(data, 2, 5), (std::vector<std::int32_t>{3, 100, 127})) << int{code};
  }

  // Why an index is refused that `change` made wrong.
  std::string refusal(const std::function<void(MegatronIndex&)>& change) const {
    const auto bin = write_megatron<std::uint16_t>(name(), kSequences, 8);
    MegatronIndex index = index_of(kSequences, 8, 2);
    change(index);
    return open_with(bin, index.bytes());
  }

  std::string open_with(const std::filesystem::path& bin, const std::string& index) const {
    std::filesystem::remove(name().string() +
                            ".idx");  // some systems wait for the disk when a file is truncated
    std::ofstream(name().string() + ".idx", std::ios::binary) << index;
    try {
      const MegatronData data(bin);
      return "accepted";
    } catch (const BadData& error) {
      return error.what();
    }
  }

  TempFolder folder_;
};

TEST_F(MegatronDataTest, EveryTypeOfTokenIsRead) {
  check_type<std::uint8_t>(1);
  check_type<std::int8_t>(2);
  check_type<std::int16_t>(3);
  check_type<std::int32_t>(4);
  check_type<std::int64_t>(5);
  check_type<std::uint16_t>(8);
  check_type<std::uint32_t>(9);
  check_type<std::uint64_t>(10);
}

TEST_F(MegatronDataTest, TellsSequencesAndDocuments) {
  const MegatronData data(write_megatron<std::int32_t>(name(), kSequences, 4));
  EXPECT_EQ(data.sequences(), 4);
  EXPECT_EQ(data.documents(), 4);
  EXPECT_EQ(data.sequence_length(2), 2);
  EXPECT_EQ(data.sequence_offset(2), 12);
  EXPECT_EQ(data.document_sequence(4), 4);
}

TEST_F(MegatronDataTest, ATokenOutsideOfTheVocabularyIsNamed) {
  const MegatronData data(write_megatron<std::int32_t>(name(), {{1, 2, 300}, {-5}}, 4));
  EXPECT_THAT([&] { read(data, 1, 3, 300); },
              ThrowsMessage<BadData>(HasSubstr("token 300 at position 2 is not among the tokenizer's 300")));
  EXPECT_THAT([&] { read(data, 3, 4); }, ThrowsMessage<BadData>(HasSubstr("token -5 at position 3")));
  EXPECT_EQ(read(data, 0, 3, 301), (std::vector<std::int32_t>{1, 2, 300}));
}

TEST_F(MegatronDataTest, AnIndexThatIsWrongIsRefused) {
  EXPECT_EQ(refusal([](MegatronIndex&) {}), "accepted");
  EXPECT_THAT(refusal([](auto& i) { i.magic[3] = 'X'; }), HasSubstr("no index of Megatron data"));
  EXPECT_THAT(refusal([](auto& i) { i.version = 2; }), HasSubstr("version 2 of the format is unknown"));
  EXPECT_THAT(refusal([](auto& i) { i.code = 7; }), HasSubstr("type code 7 is floating point"));
  for (const int code : {0, 11, 255})
    EXPECT_THAT(refusal([&](auto& i) { i.code = static_cast<std::uint8_t>(code); }), HasSubstr("is unknown"));
  EXPECT_THAT(refusal([](auto& i) { i.code = 4; }),
              HasSubstr("sequence 1 begins at byte 6 where the one before it ends at 12"));
  for (const std::uint64_t many : {std::uint64_t{3}, UINT64_MAX, UINT64_MAX / 12, std::uint64_t{1} << 63}) {
    EXPECT_THAT(refusal([&](auto& i) { i.sequences = many; }), HasSubstr("bytes do not hold"));
    EXPECT_THAT(refusal([&](auto& i) { i.entries = many; }), HasSubstr("bytes do not hold"));
  }
  EXPECT_THAT(refusal([](auto& i) { i.lengths[0] = -1; }), HasSubstr("sequence 0 of length -1 does not fit"));
  EXPECT_THAT(refusal([](auto& i) { i.lengths[3] = INT32_MAX; }),
              HasSubstr("sequence 3 of length 2147483647"));
  EXPECT_THAT(refusal([](auto& i) { i.lengths[3] = 0; }), HasSubstr("it describes 10 bytes"));
  EXPECT_THAT(refusal([](auto& i) { i.offsets[2] = INT64_MIN; }), HasSubstr("sequence 2 begins at byte"));
  EXPECT_THAT(refusal([](auto& i) { i.documents[0] = 1; }), HasSubstr("document entry 0 is 1"));
  EXPECT_THAT(refusal([](auto& i) { i.documents[2] = 0; }), HasSubstr("document entry 2 is 0"));
  EXPECT_THAT(refusal([](auto& i) { i.documents[2] = 5; }), HasSubstr("document entry 2 is 5"));
  EXPECT_THAT(refusal([](auto& i) { i.documents[4] = 3; }), HasSubstr("document entry 4 is 3"));
  EXPECT_THAT(refusal([](auto& i) {
                i.documents.clear();
                i.entries = 0;
              }),
              HasSubstr("no document entries"));
}

TEST_F(MegatronDataTest, AMissingHalfIsNamed) {
  const auto bin = write_megatron<std::uint16_t>(name(), kSequences, 8);
  std::filesystem::remove(name().string() + ".idx");
  EXPECT_THAT([&] { MegatronData{bin}; }, ThrowsMessage<BadData>(HasSubstr("data.idx: No such file")));
}

TEST_F(MegatronDataTest, ABrokenIndexNeverReadsBeyondTheFiles) {
  const auto bin = write_megatron<std::uint16_t>(name(), kSequences, 8);
  const std::string good = index_of(kSequences, 8, 2).bytes();
  Random random(11, 0);
  int accepted = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = good.substr(
        0, random.below(4) == 0 ? random.below(static_cast<std::uint32_t>(good.size())) : good.size());
    for (std::uint32_t i = 0, changes = random.below(4); i < changes && !bytes.empty(); ++i)
      bytes[random.below(static_cast<std::uint32_t>(bytes.size()))] = static_cast<char>(random.below(256));
    if (bytes == good || open_with(bin, bytes) != "accepted") continue;
    ++accepted;  // another type of the same size, say, or an empty document
    const MegatronData data(bin);
    std::int64_t tokens = 0;
    for (std::int64_t i = 0; i < data.sequences(); ++i) tokens += data.sequence_length(i);
    EXPECT_EQ(tokens, 6) << round;
    EXPECT_EQ(read(data, 0, data.size()).size(), 6u) << round;
    EXPECT_EQ(data.document_sequence(data.documents()), data.sequences()) << round;
  }
  EXPECT_LT(accepted, 1000);
  EXPECT_GT(accepted, 0);
}

TEST(MegatronFixtures, AreReadAsExpected) {
  const auto expected_path = shared_data("megatron_indexed/expected_index.json");
  if (!expected_path) GTEST_SKIP() << "skipped: no shared data";
  const auto all = nlohmann::json::parse(read_file(*expected_path));
  ASSERT_EQ(all.size(), 3u);
  for (const auto& [name, expected] : all.items()) {
    const MegatronData data(
        std::filesystem::path(*expected_path).replace_filename(name).replace_extension(".bin"));
    EXPECT_EQ(data.size(), expected.at("tokens")) << name;
    EXPECT_EQ(data.sequences(), expected.at("sequences")) << name;
    EXPECT_EQ(data.documents() + 1, expected.at("doc_index_entries")) << name;
    EXPECT_EQ(data.document_sequence(data.documents()), expected.at("doc_index_last")) << name;
    for (std::int64_t i = 0; i < 5; ++i) {
      const auto at = static_cast<std::size_t>(i);
      EXPECT_EQ(data.sequence_length(i), expected.at("first_sizes")[at]) << name;
      EXPECT_EQ(data.sequence_offset(i), expected.at("first_pointers")[at]) << name;
      EXPECT_EQ(data.document_sequence(i), expected.at("doc_index_head")[at]) << name;
    }
    EXPECT_EQ(read(data, 0, 16), expected.at("first_tokens").get<std::vector<std::int32_t>>()) << name;
    const auto tokens = read(data, 0, data.size());
    EXPECT_EQ(*std::max_element(tokens.begin(), tokens.end()), expected.at("max_token_id")) << name;
    std::int32_t shortest = INT32_MAX;
    std::int32_t longest = 0;
    int ends = 0;
    for (std::int64_t i = 0; i < data.sequences(); ++i) {
      shortest = std::min(shortest, data.sequence_length(i));
      longest = std::max(longest, data.sequence_length(i));
      const std::int64_t end =
          data.sequence_offset(i) / expected.at("token_bytes").get<std::int64_t>() + data.sequence_length(i);
      ends += tokens[static_cast<std::size_t>(end - 1)] == 4999;
    }
    EXPECT_EQ(shortest, expected.at("size_min")) << name;
    EXPECT_EQ(longest, expected.at("size_max")) << name;
    EXPECT_EQ(ends, expected.at("ends_with_eod")) << name;
  }
}

}  // namespace
}  // namespace podium
