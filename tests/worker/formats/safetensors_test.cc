#include "worker/formats/safetensors.h"

#include <gmock/gmock.h>

#include "tests/temp_folder.h"
#include "worker/formats/hashed_file.h"

namespace podium {
namespace {

using testing::HasSubstr;

class Safetensors : public testing::Test {
 protected:
  // A file of this header and `data_bytes` zeros.
  std::string error_for(const std::string& header, std::size_t data_bytes) const {
    const std::uint64_t size = header.size();
    write_file_atomic(
        path_, std::string(reinterpret_cast<const char*>(&size), 8) + header + std::string(data_bytes, '\0'));
    return error_of_file();
  }
  std::string error_of_file() const {
    try {
      SafetensorsFile file(path_);
    } catch (const SafetensorsError& error) {
      EXPECT_THAT(error.what(), HasSubstr(path_.string()));
      return error.what();
    }
    return "";
  }

  TempFolder folder_;
  std::filesystem::path path_ = folder_.path() / "x.safetensors";
  std::vector<float> floats_{1, 2, 3, 4, 5, 6};
  std::vector<std::int64_t> longs_{7};
};

TEST_F(Safetensors, WhatIsWrittenIsRead) {
  const FileDigest digest = write_safetensors(path_,
                                              {{"b", "F32", {2, 3}, std::as_bytes(std::span(floats_))},
                                               {"empty", "F32", {0}, {}},
                                               {"a", "I64", {}, std::as_bytes(std::span(longs_))}},
                                              {{"step", "7"}});
  EXPECT_EQ(digest, digest_of(path_));
  EXPECT_EQ(static_cast<std::uintmax_t>(digest.bytes), std::filesystem::file_size(path_));
  const SafetensorsFile file(path_);
  EXPECT_EQ(file.metadata().at("step"), "7");
  std::vector<float> floats(6);
  file.read("b", "F32", {2, 3}, std::as_writable_bytes(std::span(floats)));
  EXPECT_EQ(floats, floats_);
  std::vector<std::int64_t> longs(1);
  file.read("a", "I64", {}, std::as_writable_bytes(std::span(longs)));
  EXPECT_EQ(longs, longs_);
  EXPECT_EQ(file.tensors().at("a").begin, 0u) << "the widest type comes first";
}

TEST_F(Safetensors, TheBytesAreTheFormatsAndNeverChange) {
  std::vector<float> one{1};
  write_safetensors(path_, {{"w", "F32", {1}, std::as_bytes(std::span(one))}}, {});
  const std::string header = R"({"w":{"data_offsets":[0,4],"dtype":"F32","shape":[1]}})";
  ASSERT_EQ(header.size(), 54u);
  EXPECT_EQ(read_file(path_),
            std::string("\x38\0\0\0\0\0\0\0", 8) + header + "  " + std::string("\0\0\x80\x3F", 4));
}

TEST_F(Safetensors, AnotherTypeOrShapeIsRefused) {
  write_safetensors(path_, {{"w", "F32", {6}, std::as_bytes(std::span(floats_))}}, {});
  const SafetensorsFile file(path_);
  std::vector<float> out(6);
  const auto bytes = std::as_writable_bytes(std::span(out));
  EXPECT_THROW(file.read("w", "F32", {2, 3}, bytes), SafetensorsError);
  EXPECT_THROW(file.read("w", "I32", {6}, bytes), SafetensorsError);
  EXPECT_THROW(file.read("v", "F32", {6}, bytes), SafetensorsError);
}

TEST_F(Safetensors, MalformedFilesAreRefused) {
  EXPECT_EQ(error_for(R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 4), "");
  EXPECT_NE(error_for(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4), "") << "shape";
  EXPECT_NE(error_for(R"({"w":{"dtype":"F33","shape":[1],"data_offsets":[0,4]}})", 4), "") << "type";
  EXPECT_NE(error_for(R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", 8), "") << "hole";
  EXPECT_NE(error_for(R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 5), "")
      << "bytes left over";
  EXPECT_NE(error_for(R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 3), "") << "truncated";
  EXPECT_NE(error_for(R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", 4), "") << "backwards";
  EXPECT_NE(error_for(R"({"w":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4), "") << "negative";
  EXPECT_NE(error_for(R"({"w":{"dtype":"F32","shape":[1]}})", 4), "") << "no offsets";
  EXPECT_NE(error_for(R"([1])", 0), "") << "no object";
  EXPECT_NE(error_for(R"({"w":)", 0), "") << "no JSON";
  EXPECT_NE(error_for(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                      R"("b":{"dtype":"F32","shape":[1],"data_offsets":[2,6]}})",
                      6),
            "")
      << "overlap";
  EXPECT_THAT(error_for(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                        R"("a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
                        4),
              HasSubstr("twice"));
}

TEST_F(Safetensors, AHeaderLongerThanTheFileIsRefused) {
  for (const std::string& start :
       {std::string(3, '\0'), std::string("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF{}", 10),
        std::string("\x10\0\0\0\0\0\0\0{}", 10)}) {
    write_file_atomic(path_, start);
    EXPECT_NE(error_of_file(), "");
  }
}

}  // namespace
}  // namespace podium
