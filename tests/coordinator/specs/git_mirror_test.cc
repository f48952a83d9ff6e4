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
  EXPECT_THAT(paths(copy.changes("", first).files), ElementsAre("a.yaml", "deep/b.yaml"));
  EXPECT_EQ(copy.changes("", first).files[1].text, "2");

  const std::string second = origin_.commit({{"a.yaml", "3"}, {"deep/b.yaml", std::nullopt}});
  const std::string third = origin_.commit({{"c.yaml", "4"}, {"README.md", "still none"}});
  EXPECT_EQ(copy.fetch(), third);
  EXPECT_THAT(copy.commits(first, third), ElementsAre(second, third));
  EXPECT_THAT(paths(copy.changes(first, second).files), ElementsAre("a.yaml"));
  EXPECT_THAT(paths(copy.changes(second, third).files), ElementsAre("c.yaml"));
  EXPECT_THAT(copy.commits(third, third), ElementsAre());
}

TEST_F(GitMirrorTest, TellsMovesFromChanges) {
  const std::string first = origin_.commit({{"a.yaml", "1"}, {"b.yaml", "2"}, {"c.yaml", "3"}});
  const std::string second = origin_.commit({{"a.yaml", std::nullopt},
                                             {"old/a.yaml", "1"},
                                             {"b.yaml", std::nullopt},
                                             {"old/b.yaml", "other"},
                                             {"copy.yaml", "3"}});
  GitMirror copy = mirror();
  copy.fetch();
  const SpecChanges changes = copy.changes(first, second);
  EXPECT_THAT(changes.moved, ElementsAre(std::pair<std::string, std::string>("a.yaml", "old/a.yaml")));
  EXPECT_THAT(changes.removed, ElementsAre("b.yaml"));
  EXPECT_THAT(paths(changes.files), ElementsAre("copy.yaml", "old/b.yaml"));
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
  EXPECT_THAT(paths(copy.changes(first, other).files), ElementsAre("b.yaml"));
}

TEST_F(GitMirrorTest, FollowsTheNamedBranchAndPathspec) {
  origin_.commit({{"a.yaml", "1"}});
  const std::string side = origin_.commit({{"specs/x.yaml", "1"}, {"other/y.yaml", "2"}}, "side");
  GitMirror copy = mirror("side", "specs/*.yaml");
  EXPECT_EQ(copy.fetch(), side);
  EXPECT_THAT(paths(copy.changes("", side).files), ElementsAre("specs/x.yaml"));
}

TEST_F(GitMirrorTest, PassesOverLinksAndDoesNotReadHugeFiles) {
  origin_.commit({{"huge.yaml", std::string(kMaxSpecBytes + 1, 'x')}});
  origin_.add_link("link.yaml", "/etc/passwd");
  GitMirror copy = mirror();
  const auto files = copy.changes("", copy.fetch()).files;
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].path, "huge.yaml");
  EXPECT_EQ(files[0].text, std::nullopt);
}

TEST_F(GitMirrorTest, GivesTheFilesBelowAFolderAsACommitHasThem) {
  const std::string first =
      origin_.commit({{"a.yaml", "1"}, {"job/train.py", "one"}, {"job/src/b.py", "two"}});
  origin_.add_link("job/link", "train.py");
  origin_.commit({{"job/train.py", "changed"}});
  GitMirror copy = mirror();
  const std::string last = copy.fetch();
  const auto text = [&](const std::string& commit, const std::string& folder) {
    std::string all;
    for (const TarEntry& entry : copy.files_in(commit, folder))
      all += entry.name + (entry.kind == TarEntry::Kind::link ? " -> " : "=") + entry.content + " ";
    return all;
  };
  EXPECT_EQ(text(first, "job"), "src/b.py=two train.py=one ");
  EXPECT_EQ(text(last, "job"), "link -> train.py src/b.py=two train.py=changed ");
  EXPECT_EQ(text(first, ""), "a.yaml=1 job/src/b.py=two job/train.py=one ");
  EXPECT_THROW(copy.files_in(last, "nowhere"), GitError);
  EXPECT_THROW(copy.files_in(last, "a.yaml"), GitError);
}

TEST_F(GitMirrorTest, FindsTheTagsBranchesAndCommitsThatSpecsName) {
  const std::string first = origin_.commit({{"a.yaml", "1"}});
  origin_.tag("v1.0", first);
  const std::string side = origin_.commit({{"b.yaml", "2"}}, "side");
  const std::string last = origin_.commit({{"a.yaml", "3"}});
  GitMirror copy = mirror();
  copy.fetch();
  EXPECT_EQ(*copy.fetch_revision("v1.0", last), first) << "the commit, not the tag's own object";
  EXPECT_EQ(*copy.fetch_revision("side", last), side);
  EXPECT_EQ(copy.files_in(side, "").size(), 1u);
  EXPECT_EQ(*copy.fetch_revision(first.substr(0, 12), last), first);
  EXPECT_EQ(*copy.fetch_revision("HEAD", first), first) << "of whoever has the spec's commit";
  EXPECT_EQ(describe(copy.fetch_revision("v1.1", last).errors()),
            origin_.path() +
                " has no tag or branch \"v1.1\", nor has the watched branch such a commit; did you mean "
                "\"v1.0\"?");
  EXPECT_FALSE(copy.fetch_revision("refs/podium/done", last).ok());
  EXPECT_EQ(*copy.fetch_revision("refs/tags/v1.0", last), first);
  EXPECT_EQ(*copy.fetch_revision("refs/heads/side", last), side);
  origin_.tag("v2.0", last);
  EXPECT_EQ(*copy.fetch_revision("v2.0", last), last) << "asked for anew each time";
}

// The branch was taken for the tag, silently.
TEST_F(GitMirrorTest, RefusesANameOfATagAndABranch) {
  const std::string first = origin_.commit({{"a.yaml", "1"}});
  origin_.tag("v1", first);
  const std::string branch = origin_.commit({{"a.yaml", "2"}}, "v1");
  GitMirror copy = mirror();
  copy.fetch();
  EXPECT_EQ(describe(copy.fetch_revision("v1", first).errors()),
            "in " + origin_.path() + " \"v1\" is a tag and a branch; write refs/tags/v1 or refs/heads/v1");
  EXPECT_EQ(*copy.fetch_revision("refs/tags/v1", first), first);
  EXPECT_EQ(*copy.fetch_revision("refs/heads/v1", first), branch);
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
  try {
    copy.fetch();
    FAIL() << "fetched a branch that is gone";
  } catch (const GitError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("has no branch side; name another with branch=NAME"));
  }
}

}  // namespace
}  // namespace podium
