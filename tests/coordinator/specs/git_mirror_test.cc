#include "coordinator/specs/git_mirror.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/spec/load.h"
#include "tests/coordinator/specs/git_repository.h"

namespace podium {
namespace {

using ::testing::ElementsAre;

class GitMirrorTest : public ::testing::Test {
 protected:
  GitMirror mirror(const std::string& branch = "", const std::string& files = "*.yaml") {
    return GitMirror({"r", origin_.path(), branch, files}, folder_.path() / "r", stop_);
  }

  static std::vector<std::string> paths(const std::vector<SpecFile>& files) {
    std::vector<std::string> paths;
    for (const SpecFile& file : files) paths.push_back(file.path);
    return paths;
  }

  test::GitRepository origin_;
  TempFolder folder_;
  std::atomic<bool> stop_ = false;
};

TEST_F(GitMirrorTest, ShowsAllFilesFirstAndThenWhatChanged) {
  const std::string first = origin_.commit({{"a.yaml", "1"}, {"deep/b.yaml", "2"}, {"README.md", "no spec"}});
  GitMirror copy = mirror();
  EXPECT_EQ(copy.fetch(), first);
  EXPECT_THAT(copy.commits("", first), ElementsAre(first));
  EXPECT_THAT(paths(copy.changed("", first)), ElementsAre("a.yaml", "deep/b.yaml"));
  EXPECT_EQ(copy.changed("", first)[1].text, "2");

  const std::string second = origin_.commit({{"a.yaml", "3"}, {"deep/b.yaml", std::nullopt}});
  const std::string third = origin_.commit({{"c.yaml", "4"}, {"README.md", "still none"}});
  EXPECT_EQ(copy.fetch(), third);
  EXPECT_THAT(copy.commits(first, third), ElementsAre(second, third));
  EXPECT_THAT(paths(copy.changed(first, second)), ElementsAre("a.yaml"));
  EXPECT_THAT(paths(copy.changed(second, third)), ElementsAre("c.yaml"));
  EXPECT_THAT(copy.commits(third, third), ElementsAre());
}

TEST_F(GitMirrorTest, RemembersWhatIsDoneAcrossRestarts) {
  const std::string first = origin_.commit({{"a.yaml", "1"}});
  {
    GitMirror copy = mirror();
    EXPECT_EQ(copy.done(), "");
    copy.fetch();
    copy.set_done(first);
  }
  EXPECT_EQ(mirror().done(), first);
}

TEST_F(GitMirrorTest, TakesARewrittenBranchAsOneChange) {
  const std::string first = origin_.commit({{"a.yaml", "1"}, {"b.yaml", "2"}});
  GitMirror copy = mirror();
  copy.fetch();
  copy.set_done(first);
  const std::string other = origin_.rewrite({{"a.yaml", "1"}, {"b.yaml", "3"}});
  EXPECT_EQ(copy.fetch(), other);
  EXPECT_THAT(copy.commits(first, other), ElementsAre(other));
  EXPECT_THAT(paths(copy.changed(first, other)), ElementsAre("b.yaml"));
}

TEST_F(GitMirrorTest, FollowsTheNamedBranchAndPathspec) {
  origin_.commit({{"a.yaml", "1"}});
  const std::string side = origin_.commit({{"specs/x.yaml", "1"}, {"other/y.yaml", "2"}}, "side");
  GitMirror copy = mirror("side", "specs/*.yaml");
  EXPECT_EQ(copy.fetch(), side);
  EXPECT_THAT(paths(copy.changed("", side)), ElementsAre("specs/x.yaml"));
}

TEST_F(GitMirrorTest, PassesOverLinksAndDoesNotReadHugeFiles) {
  origin_.commit({{"huge.yaml", std::string(kMaxSpecBytes + 1, 'x')}});
  origin_.add_link("link.yaml", "/etc/passwd");
  GitMirror copy = mirror();
  const auto files = copy.changed("", copy.fetch());
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].path, "huge.yaml");
  EXPECT_EQ(files[0].text, std::nullopt);
}

TEST_F(GitMirrorTest, SaysWhatIsMissing) {
  EXPECT_THROW(mirror().fetch(), GitError);  // no commit yet
  origin_.commit({{"a.yaml", "1"}});
  EXPECT_THROW(mirror("nowhere").fetch(), GitError);
  GitMirror gone({"r", "/nonexistent/repository", "", "*.yaml"}, folder_.path() / "gone", stop_);
  try {
    gone.fetch();
    FAIL() << "fetched from nowhere";
  } catch (const GitError& error) {
    EXPECT_STREQ(error.what(), "/nonexistent/repository does not exist");
  }
}

TEST_F(GitMirrorTest, NoticesThatABranchIsGone) {
  origin_.commit({{"a.yaml", "1"}});
  origin_.commit({{"b.yaml", "1"}}, "side");
  GitMirror copy = mirror("side");
  copy.fetch();
  origin_.remove_branch("side");
  EXPECT_THROW(copy.fetch(), GitError);
}

}  // namespace
}  // namespace podium
