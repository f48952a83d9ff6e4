// Files below a folder, whoever puts links in the way.
#include "common/base/file_tree.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/temp_folder.h"

namespace podium {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

class FileTree : public testing::Test {
 protected:
  FileTree() {
    fs::create_directories(root() / "a/b");
    write_file_atomic(root() / "a/b/file", "text");
    write_file_atomic(folder_.path() / "secret", "secret");
    fs::create_symlink(folder_.path() / "secret", root() / "a/link");
    fs::create_directory_symlink(folder_.path(), root() / "out");
    EXPECT_EQ(::mkfifo((root() / "a/pipe").c_str(), 0600), 0);
  }
  fs::path root() const { return folder_.path() / "root"; }

  TempFolder folder_;
};

TEST_F(FileTree, ListsFilesAndFoldersByName) {
  write_file_atomic(root() / "a/0", "");
  EXPECT_THAT(list_below(root(), {"a"}), ElementsAre(TreeEntry{"0", false, 0}, TreeEntry{"b", true, 0}));
  EXPECT_THAT(list_below(root(), {"a", "b"}), ElementsAre(TreeEntry{"file", false, 4}));
  EXPECT_THAT(list_below(root(), {}), ElementsAre(TreeEntry{"a", true, 0}));
}

TEST_F(FileTree, IsEmptyWhereThereIsNoFolder) {
  EXPECT_THAT(list_below(root(), {"none"}), IsEmpty());
  EXPECT_THAT(list_below(root(), {"a", "b", "file"}), IsEmpty());
  EXPECT_THAT(list_below(root() / "none", {}), IsEmpty());
  EXPECT_THAT(list_below(root(), {"out"}), IsEmpty());
  EXPECT_THAT(list_below(root() / "out", {}), IsEmpty());
}

TEST_F(FileTree, OpensFilesAlone) {
  const auto file = open_below(root(), {"a", "b", "file"});
  ASSERT_TRUE(file);
  EXPECT_EQ(file->bytes, 4);
  std::string text(4, ' ');
  EXPECT_EQ(::read(file->fd.get(), text.data(), 4), 4);
  EXPECT_EQ(text, "text");
  for (const PathParts& none :
       {PathParts{"a", "link"}, {"out", "secret"}, {"a", "pipe"}, {"a"}, {"none"}, {}})
    EXPECT_FALSE(open_below(root(), none)) << testing::PrintToString(none);
}

TEST_F(FileTree, TellsAFileFromTheOneThatTookItsPlace) {
  const std::string version = open_below(root(), {"a", "b", "file"})->version;
  EXPECT_EQ(open_below(root(), {"a", "b", "file"})->version, version);
  write_file_atomic(root() / "a/b/file", "next");
  EXPECT_NE(open_below(root(), {"a", "b", "file"})->version, version);
}

}  // namespace
}  // namespace podium
