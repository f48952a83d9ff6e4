// code.git: the folder of a spec as a commit of its repository has it, packed from real repositories.
#include "common/net/code_snapshot.h"
#include "tests/cli/command_fixture.h"
#include "tests/coordinator/specs/git_repository.h"

namespace podium {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;

class SpecCode : public Commands {
 protected:
  SpecCode() {
    first_ =
        repository_.commit({{"job/src/train.py", "first"}, {"job/src/lib/a.py", "a"}, {"other.py", "x"}});
    repository_.tag("v1.0", first_);
    repository_.commit({{"job/src/train.py", "second"}});
    fake_.on("POST /api/v1/code", 201, json{{"sha256", std::string(64, 'a')}, {"bytes", 1}}.dump());
    fake_.on("POST /api/v1/experiments", 201,
             json{{"experiment", {{"id", 3}, {"name", "a"}}}, {"jobs", json::array()}}.dump());
  }

  // Of a spec in the repository's folder "job", whose files are none that a commit has.
  test::Ran submit(const std::string& code) {
    const fs::path folder = fs::path(repository_.path()) / "job";
    fs::create_directories(folder / "src");
    write_file_atomic(folder / "src" / "train.py", "not committed");
    write_file_atomic(folder / "spec.yaml", "version: 1\nname: a\ncommand: [./train.py]\ncode: " + code +
                                                "\nresources: {devices: 1}\n");
    return program_.run({"submit", (folder / "spec.yaml").string()});
  }

  // What was posted last, by its names.
  std::map<std::string, std::string> posted() {
    const std::string packed = fake_.asked("POST /api/v1/code").back().body;
    const TempFolder to;
    unpack_code(packed, sha256_of(packed), to.path() / "code");
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(to.path() / "code"))
      if (entry.is_regular_file())
        files[entry.path().lexically_relative(to.path() / "code").generic_string()] = read_file(entry.path());
    return files;
  }

  json submitted() { return json::parse(fake_.asked("POST /api/v1/experiments").back().body); }

  test::GitRepository repository_;
  std::string first_;
};

// The tag was taken silently.
TEST_F(SpecCode, OfANameOfATagAndABranchIsRefused) {
  const std::string branch = repository_.commit({{"job/src/train.py", "branch"}}, "v1.0");
  const auto ran = submit("{git: v1.0, folder: src}");
  EXPECT_EQ(ran.status, 4);
  EXPECT_THAT(ran.err, HasSubstr("spec.yaml:4:13: code.git: in "));
  EXPECT_THAT(ran.err, HasSubstr("\"v1.0\" is a tag and a branch; write refs/tags/v1.0 or refs/heads/v1.0"));
  EXPECT_EQ(submit("{git: refs/tags/v1.0, folder: src}").status, 0);
  EXPECT_EQ(submitted()["code_commit"], first_);
  EXPECT_EQ(submit("{git: refs/heads/v1.0, folder: src}").status, 0);
  EXPECT_EQ(submitted()["code_commit"], branch);
}

TEST_F(SpecCode, IsPackedAsATagHasIt) {
  const auto ran = submit("{git: v1.0, folder: src}");
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(posted(), (std::map<std::string, std::string>{{"train.py", "first"}, {"lib/a.py", "a"}}));
  EXPECT_EQ(submitted()["code"], std::string(64, 'a'));
  EXPECT_EQ(submitted()["code_commit"], first_);
}

TEST_F(SpecCode, IsTheSpecsOwnFolderUnlessItIsWritten) {
  ASSERT_EQ(submit("{git: main}").status, 0);
  EXPECT_EQ(posted(),
            (std::map<std::string, std::string>{{"src/train.py", "second"}, {"src/lib/a.py", "a"}}));
  ASSERT_EQ(submit("{git: \"" + first_.substr(0, 10) + "\", folder: ..}").status, 0);
  EXPECT_EQ(posted().at("other.py"), "x");
  EXPECT_EQ(submitted()["code_commit"], first_);
}

TEST_F(SpecCode, WithoutGitItIsWhatLiesThere) {
  ASSERT_EQ(submit("{folder: src}").status, 0);
  EXPECT_EQ(posted(), (std::map<std::string, std::string>{{"train.py", "not committed"}}));
  EXPECT_FALSE(submitted().contains("code_commit"));
}

// The folder was named without the place in the spec that says so.
TEST_F(SpecCode, AFolderThatIsMissingIsSaidWithItsPlace) {
  const auto ran = submit("{folder: sources}");
  EXPECT_EQ(ran.status, 4);
  EXPECT_THAT(ran.err, HasSubstr("spec.yaml:4:16: code.folder: "));
  EXPECT_THAT(ran.err, HasSubstr("job/sources is no folder; name the one that the program is in"));
}

TEST_F(SpecCode, AnUnknownRevisionIsSaidWithItsPlaceAndASuggestion) {
  const auto ran = submit("{git: v1.9}");
  EXPECT_EQ(ran.status, 4);
  EXPECT_THAT(ran.err, HasSubstr("job/spec.yaml:4:13: code.git: "));
  EXPECT_THAT(ran.err, HasSubstr("\"v1.9\" names no commit, tag or branch of "));
  EXPECT_THAT(ran.err, HasSubstr(", or more than one; did you mean \"v1.0\"?\n"));
  EXPECT_THAT(submit("{git: nothing-like-it}").err, HasSubstr("git tag and git branch list them"));
  EXPECT_TRUE(fake_.asked("POST /api/v1/experiments").empty());
}

TEST_F(SpecCode, AFolderThatTheCommitLacksIsSaid) {
  const auto ran = submit("{git: v1.0, folder: sources}");
  EXPECT_EQ(ran.status, 4);
  EXPECT_THAT(ran.err, HasSubstr("spec.yaml:4:27: code.folder: commit " + first_ +
                                 " has no folder job/sources (v1.0); name a folder that it has"));
  EXPECT_THAT(submit("{git: v1.0, folder: src/train.py}").err, HasSubstr("has no folder job/src/train.py"));
  EXPECT_THAT(submit("{git: v1.0, folder: ../..}").err,
              HasSubstr("code.folder: ../.. lies outside of the repository"));
}

TEST_F(SpecCode, OutsideOfARepositoryTheRemedyIsSaid) {
  const std::string spec = "version: 1\nname: a\ncommand: [ls]\ncode: {git: main}\nresources: {devices: 1}\n";
  const auto ran = program_.run({"submit", write("alone.yaml", spec)});
  EXPECT_EQ(ran.status, 4);
  EXPECT_THAT(ran.err, HasSubstr("alone.yaml:4:13: code.git: "));
  EXPECT_THAT(ran.err,
              HasSubstr("lies in no git repository; commit it to one, or write code: {folder: .} for the "
                        "files as they are"));
}

}  // namespace
}  // namespace podium
