#include "coordinator/specs/spec_repository.h"

#include <gtest/gtest.h>

namespace podium {
namespace {

TEST(SpecRepository, TakesItsNameFromTheUrl) {
  for (const char* url :
       {"https://host/team/specs.git", "https://host/team/specs", "git@host:specs.git", "/srv/git/specs/"}) {
    const auto parsed = parse_spec_repository(url);
    ASSERT_TRUE(parsed.ok()) << describe(parsed.errors());
    EXPECT_EQ(parsed->name, "specs") << url;
    EXPECT_EQ(parsed->url, url);
    EXPECT_EQ(parsed->branch, "");
    EXPECT_EQ(parsed->files, "*.yaml");
  }
}

TEST(SpecRepository, ReadsItsFields) {
  const auto parsed = parse_spec_repository("/srv/r,branch=prod,files=specs/*.yaml,name=team-a");
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->branch, "prod");
  EXPECT_EQ(parsed->files, "specs/*.yaml");
  EXPECT_EQ(parsed->name, "team-a");
  EXPECT_FALSE(parsed->submit_existing);
  EXPECT_TRUE(parse_spec_repository("/srv/r,existing=submit")->submit_existing);
  EXPECT_FALSE(parse_spec_repository("/srv/r,existing=leave")->submit_existing);
}

TEST(SpecRepository, TellsNoPassword) {
  const auto repository = parse_spec_repository("https://user:token@host/team/specs.git,branch=main");
  EXPECT_EQ(repository->url, "https://host/team/specs.git");
  EXPECT_EQ(repository->remote, "https://user:token@host/team/specs.git");
  EXPECT_EQ(describe(parse_spec_repository("https://user:token@host/s.git,x=1").errors()).find("token"),
            std::string::npos);
}

TEST(SpecRepository, RefusesWhatItCannotUse) {
  for (const char* text :
       {"", ",branch=x", "/srv/r,branch", "/srv/r,branch=", "/srv/r,colour=red", "/srv/r,existing=maybe",
        "/srv/r,name=../x", "/srv/r,name=.git", "/srv/.hidden", "/"})
    EXPECT_FALSE(parse_spec_repository(text).ok()) << text;
}

}  // namespace
}  // namespace podium
