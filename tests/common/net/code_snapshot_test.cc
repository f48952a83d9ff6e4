#include "common/net/code_snapshot.h"

#include <gmock/gmock.h>

#include "common/base/file.h"
#include "tests/temp_folder.h"

namespace podium {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;
using testing::ThrowsMessage;

class Code : public testing::Test {
 protected:
  Code() {
    fs::create_directories(folder() / "src/deep");
    fs::create_directories(folder() / ".git");
    write_file_atomic(folder() / "train.py", "print(1)\n");
    write_file_atomic(folder() / "src/run.sh", "#!/bin/sh\n", 0755);
    write_file_atomic(folder() / ".git/HEAD", "ref\n");
    write_file_atomic(folder() / "src/deep" / std::string(120, 'x').substr(0, 90), "long");
    fs::create_symlink("../train.py", folder() / "src/link");
  }
  fs::path folder() const { return temp_.path() / "code"; }
  fs::path out() const { return temp_.path() / "out"; }

  TempFolder temp_;
};

TEST_F(Code, ComesOutAsItWasPacked) {
  const auto snapshot = pack_code_folder(folder(), "a.yaml:4:9");
  ASSERT_TRUE(snapshot.ok()) << describe(snapshot.errors());
  unpack_code(snapshot->packed, snapshot->sha256, out());
  EXPECT_EQ(read_file(out() / "train.py"), "print(1)\n");
  EXPECT_EQ(read_file(out() / "src/link"), "print(1)\n");
  EXPECT_NE(fs::status(out() / "src/run.sh").permissions() & fs::perms::owner_exec, fs::perms::none);
  EXPECT_EQ(fs::status(out() / "train.py").permissions() & fs::perms::owner_exec, fs::perms::none);
  EXPECT_FALSE(fs::exists(out() / ".git"));
}

TEST_F(Code, HasTheSameNameWheneverItIsPacked) {
  const std::string before = pack_code_folder(folder(), "a.yaml:4:9")->sha256;
  fs::last_write_time(folder() / "train.py", fs::file_time_type::clock::now() + std::chrono::hours(1));
  EXPECT_EQ(pack_code_folder(folder(), "a.yaml:4:9")->sha256, before);
  write_file_atomic(folder() / "train.py", "print(2)\n");
  EXPECT_NE(pack_code_folder(folder(), "a.yaml:4:9")->sha256, before);
}

TEST_F(Code, ThatIsTooLargeIsToldWithItsLargestFiles) {
  fs::resize_file(folder() / "train.py", kMostCodeBytes);
  const auto snapshot = pack_code_folder(folder(), "a.yaml:4:9");
  ASSERT_FALSE(snapshot.ok());
  EXPECT_THAT(describe(snapshot.errors()),
              AllOf(HasSubstr("64.0 MiB is the most"), HasSubstr("train.py (64.0 MiB), src/run.sh")));
}

TEST_F(Code, ThatCannotBeReadIsAMistakeOfTheSpec) {
  const auto refused = [](const fs::path& folder) {
    return describe(pack_code_folder(folder, "a.yaml:4:9").errors());
  };
  EXPECT_THAT(refused("/proc/self"), StartsWith("a.yaml:4:9: code.folder cannot be read"));
  const std::string file = folder() / "train.py";
  EXPECT_THAT(refused(file), StartsWith("a.yaml:4:9: code.folder: " + file + " is no folder"));
}

TEST_F(Code, ALinkOutOfTheFolderIsRefused) {
  for (const char* target : {"/etc/passwd", "../../outside", "deep/../../../outside"}) {
    fs::remove(folder() / "src/out");
    fs::create_symlink(target, folder() / "src/out");
    const auto snapshot = pack_code_folder(folder(), "a.yaml:4:9");
    ASSERT_FALSE(snapshot.ok()) << target;
    EXPECT_THAT(describe(snapshot.errors()), HasSubstr("src/out leads out of the folder")) << target;
  }
}

TEST_F(Code, WithAnotherHashIsNotUnpacked) {
  CodeSnapshot snapshot = std::move(pack_code_folder(folder(), "a.yaml:4:9")).value();
  snapshot.packed.back() ^= 1;
  EXPECT_THAT([&] { unpack_code(snapshot.packed, snapshot.sha256, out()); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("not what its hash says")));
  EXPECT_FALSE(fs::exists(out()));
}

// An entry that no packer of ours makes, its checksum right.
std::string entry(const std::string& name, char type, const std::string& target = "") {
  std::string header(512, '\0');
  const auto put = [&header](std::size_t at, const std::string& text) {
    header.replace(at, text.size(), text);
  };
  put(0, name);
  put(100, "0000644");
  put(108, "0000000");
  put(116, "0000000");
  put(124, "00000000000");
  put(136, "00000000000");
  put(148, "        ");
  header[156] = type;
  put(157, target);
  put(257, "ustar");
  put(263, "00");
  unsigned sum = 0;
  for (const unsigned char byte : header) sum += byte;
  std::string digits(6, '0');
  for (std::size_t i = 6; i-- > 0; sum /= 8) digits[i] = static_cast<char>('0' + sum % 8);
  put(148, digits + '\0');
  return header;
}

TEST(Tar, TakesNoNameOrLinkThatLeadsOutHoweverTheArchiveWasMade) {
  const TempFolder temp;
  const std::string end(1024, '\0');
  int made = 0;
  const auto unpacked = [&](const std::string& entries) {
    const fs::path out = temp.path() / ("out-" + std::to_string(++made)) / "deep/er";
    fs::create_directories(out.parent_path());
    try {
      unpack_tar(entries + end, out);
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string("taken");
  };
  EXPECT_EQ(unpacked(entry("a", '0') + entry("d", '5') + entry("d/l", '2', "../a")), "taken");
  for (const char* name : {"../evil", "/evil", "a/../../evil", "a//evil", "./evil"})
    EXPECT_THAT(unpacked(entry(name, '0')), HasSubstr("is no ")) << name;
  EXPECT_THAT(unpacked(entry("l", '2', "..")), HasSubstr("leads out"));
  EXPECT_THAT(unpacked(entry("l", '2', "/etc")), HasSubstr("leads out"));
  EXPECT_THAT(unpacked(entry("a//b", '2', "../..") + entry("a//b/evil", '5')), HasSubstr("no plain path"));
  EXPECT_THAT(unpacked(entry("p/q/a", '2', "../../b") + entry("p/q/a/y", '2', "../../..")),
              HasSubstr("p/q/a/y lies below what is no folder"));
  EXPECT_THAT(unpacked(entry("l", '2', "d") + entry("l/evil", '5')), HasSubstr("lies below"));
  EXPECT_THAT(unpacked(entry("a", '0') + entry("a/b", '0')), HasSubstr("lies below"));
  EXPECT_THAT(unpacked(entry("a", '0') + entry("a", '2', "b")), HasSubstr("twice"));
  EXPECT_THAT(unpacked(entry("pipe", '6')), HasSubstr("neither a file"));
}

TEST(Tar, NothingIsUnpackedOutsideOfTheFolder) {
  const TempFolder temp;
  for (const char* name : {"/abcdef", "../abcd", "a/../bc", "a/./bcd"}) {
    EXPECT_THROW(tar_of({{name, TarEntry::Kind::file, false, "x"}}), std::invalid_argument) << name;
    EXPECT_NE(bad_tar_name(name), "") << name;
  }
  std::string tar = tar_of({{"abcdefg", TarEntry::Kind::file, false, "x"}});
  tar.replace(0, 7, "bbcdefg");
  EXPECT_THROW(unpack_tar(tar, temp.path() / "out"), std::invalid_argument) << "its checksum is wrong";
  EXPECT_THROW(read_tar(tar.substr(0, 700)), std::invalid_argument);
  EXPECT_THROW(read_tar(""), std::invalid_argument);
}

TEST(Tar, NoFileIsWrittenThroughALink) {
  const TempFolder temp;
  const std::string tar =
      tar_of({{"a", TarEntry::Kind::link, false, "b"}, {"a/file", TarEntry::Kind::file, false, "x"}});
  EXPECT_THROW(unpack_tar(tar, temp.path() / "out"), std::invalid_argument);
  EXPECT_FALSE(fs::exists(temp.path() / "out"));
}

}  // namespace
}  // namespace podium
