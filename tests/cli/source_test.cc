// Which commit a spec came from, in real repositories.
#include <git2.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/spec_file.h"
#include "common/base/file.h"
#include "tests/temp_folder.h"

namespace podium::cli {
namespace {

using nlohmann::json;

void require(int status) {
  if (status < 0) throw std::runtime_error(git_error_last() ? git_error_last()->message : "git failed");
}

class Source : public ::testing::Test {
 protected:
  Source() { git_libgit2_init(); }
  ~Source() override {
    git_repository_free(repository_);
    git_libgit2_shutdown();
  }

  void make_repository() { require(git_repository_init(&repository_, folder_.path().c_str(), 0)); }

  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((folder_.path() / path).parent_path());
    write_file_atomic(folder_.path() / path, text);
  }

  std::string commit(const std::vector<const char*>& paths) {
    git_index* index = nullptr;
    require(git_repository_index(&index, repository_));
    for (const char* path : paths) require(git_index_add_bypath(index, path));
    require(git_index_write(index));
    git_oid tree_id;
    require(git_index_write_tree(&tree_id, index));
    git_index_free(index);
    git_tree* tree = nullptr;
    require(git_tree_lookup(&tree, repository_, &tree_id));
    git_signature* author = nullptr;
    require(git_signature_new(&author, "Test", "test@example.org", 1'700'000'000, 0));
    git_oid id;
    require(git_commit_create(&id, repository_, "HEAD", author, author, nullptr, "first", tree, 0, nullptr));
    git_signature_free(author);
    git_tree_free(tree);
    return git_oid_tostr_s(&id);
  }

  json source(const std::string& path) { return find_source((folder_.path() / path).string(), warning_); }

  TempFolder folder_;
  git_repository* repository_ = nullptr;
  std::string warning_;
};

TEST_F(Source, OutsideGitThereIsNone) {
  write("a.yaml", "x");
  EXPECT_TRUE(source("a.yaml").is_null());
  EXPECT_EQ(warning_, "");
}

TEST_F(Source, ARepositoryWithoutACommitIsSaid) {
  make_repository();
  write("a.yaml", "x");
  EXPECT_TRUE(source("a.yaml").is_null());
  EXPECT_THAT(warning_, ::testing::HasSubstr("has none yet"));
}

TEST_F(Source, NamesCommitPathAndWhetherItIsDirty) {
  make_repository();
  write("specs/a.yaml", "x");
  write("other.txt", "y");
  const std::string commit_id = commit({"specs/a.yaml", "other.txt"});
  EXPECT_EQ(source("specs/a.yaml"), (json{{"repository", std::filesystem::canonical(folder_.path()).string()},
                                          {"commit", commit_id},
                                          {"path", "specs/a.yaml"},
                                          {"dirty", false}}));
  write("untracked.txt", "z");
  EXPECT_EQ(source("specs/a.yaml")["dirty"], false);
  write("other.txt", "changed, and so longer");
  EXPECT_EQ(source("specs/a.yaml")["dirty"], true);
  write("new.yaml", "x");
  EXPECT_EQ(source("new.yaml")["dirty"], true);
}

TEST_F(Source, TheRemotesCredentialsStayHere) {
  make_repository();
  write("a.yaml", "x");
  commit({"a.yaml"});
  git_remote* remote = nullptr;
  require(git_remote_create(&remote, repository_, "origin", "https://user:secret@example.org/team/r.git"));
  git_remote_free(remote);
  EXPECT_EQ(source("a.yaml")["repository"], "https://example.org/team/r.git");
}

}  // namespace
}  // namespace podium::cli
