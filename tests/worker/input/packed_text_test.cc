#include "worker/input/packed_text.h"

#include <gmock/gmock.h>
#include <zlib.h>
#include <zstd.h>

#include "common/base/file.h"
#include "tests/temp_folder.h"
#include "worker/input/bad_data.h"

namespace podium {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

std::string gzip(const std::string& text) {
  std::string packed(compressBound(text.size()) + 64, '\0');
  z_stream stream{};
  EXPECT_EQ(::deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(::deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(packed.size() - stream.avail_out);
  ::deflateEnd(&stream);
  return packed;
}

std::string zstandard(const std::string& text) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));
  return packed;
}

std::string some_text(std::size_t bytes) {
  std::string text;
  for (std::uint32_t i = 0; text.size() < bytes; ++i) text += std::to_string(i * 2654435761u) + " word\n";
  return text;
}

class PackedTextTest : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& name, const std::string& bytes) {
    write_file_atomic(folder_.path() / name, bytes);
    return folder_.path() / name;
  }
  // All from `begin` on, in pieces of `piece` bytes.
  static std::string read(PackedText text, std::size_t piece) {
    std::string all;
    std::string part(piece, '\0');
    while (const std::size_t got = text.read(part)) all.append(part, 0, got);
    return all;
  }

  TempFolder folder_;
};

TEST_F(PackedTextTest, EveryFormGivesTheText) {
  const std::string text = some_text(700'000);
  for (const auto& path :
       {write("a.txt", text), write("a.gz", gzip(text)), write("a.zst", zstandard(text)),
        write("two.gz", gzip(text.substr(0, 1234)) + gzip(text.substr(1234))),
        write("two.zst", zstandard(text.substr(0, 1234)) + zstandard(text.substr(1234)))}) {
    for (const std::size_t piece : {std::size_t{1000}, std::size_t{1} << 20})
      EXPECT_EQ(read(PackedText(path), piece), text) << path << " by " << piece;
    PackedText later(path);
    std::atomic<bool> stop{false};
    EXPECT_TRUE(later.skip_to(500'001, stop));
    EXPECT_EQ(read(std::move(later), 1 << 16), text.substr(500'001)) << path;
    stop = true;
    EXPECT_EQ(PackedText(path).skip_to(500'001, stop), path.extension() == ".txt") << path;
  }
  for (const auto& path : {write("e.txt", ""), write("e.gz", gzip("")), write("e.zst", zstandard(""))})
    EXPECT_EQ(read(PackedText(path), 10), "") << path;
}

TEST_F(PackedTextTest, TextBeforeTheDamageIsReadBeforeItIsTold) {
  const std::string text = some_text(700'000);
  for (const auto& [name, packed] : {std::pair("a.gz", gzip(text)), std::pair("a.zst", zstandard(text))}) {
    std::string lengths;
    for (const std::size_t piece : {std::size_t{1000}, std::size_t{1} << 20}) {
      PackedText cut(write(name, packed.substr(0, packed.size() * 2 / 3)));
      std::string part(piece, '\0');
      std::string all;
      EXPECT_THAT(
          [&] {
            while (const std::size_t got = cut.read(part)) all.append(part, 0, got);
          },
          ThrowsMessage<BadData>(HasSubstr("is cut off")))
          << name;
      EXPECT_GT(all.size(), 100'000u) << name;
      EXPECT_TRUE(text.starts_with(all)) << name;
      lengths += std::to_string(all.size()) + " ";
    }
    const std::size_t space = lengths.find(' ');
    EXPECT_EQ(lengths.substr(0, space + 1) + lengths.substr(0, space + 1), lengths) << "whatever the pieces";

    std::string damaged = packed;
    for (std::size_t i = 0; i < 64; ++i) damaged[damaged.size() / 2 + i] = 'x';
    EXPECT_THAT([&] { read(PackedText(write(name, damaged)), 4096); },
                ThrowsMessage<BadData>(HasSubstr("is damaged")))
        << name;
    EXPECT_THAT([&] { read(PackedText(write(name, "plain text")), 4096); },
                ThrowsMessage<BadData>(HasSubstr(name)));
  }
}

TEST_F(PackedTextTest, MissingFilesAndFoldersAreNamed) {
  EXPECT_THAT([&] { PackedText(folder_.path() / "no.gz"); }, ThrowsMessage<BadData>(HasSubstr("no.gz")));
  EXPECT_THAT([&] { PackedText(folder_.path()); }, ThrowsMessage<BadData>(HasSubstr("a folder")));
}

}  // namespace
}  // namespace podium
