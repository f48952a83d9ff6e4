// Every value of a document is found again at the line and column its place names.
#include <gtest/gtest.h>

#include <sstream>

#include "common/base/file.h"
#include "common/spec/yaml_document.h"
#include "common/spec/yaml_scalar.h"
#include "tests/common/spec/files.h"
#include "tests/paths.h"

namespace podium {
namespace {

using nlohmann::json;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// The text from `place` on, up to what ends a plain value.
std::string token_at(const std::vector<std::string>& lines, Place place) {
  const std::string rest =
      lines.at(static_cast<std::size_t>(place.line - 1)).substr(static_cast<std::size_t>(place.column - 1));
  if (rest.front() == '"') return rest.substr(1, rest.find('"', 1) - 1);
  const std::string token = rest.substr(0, rest.find_first_of(",]}#"));
  return token.substr(0, token.find_last_not_of(' ') + 1);
}

void expect_found(const json& value, const std::string& pointer, const SourceMap& places,
                  const std::vector<std::string>& lines) {
  for (const auto& [key, member] : value.items()) {
    const std::string at = pointer + "/" + pointer_step(key);
    if (value.is_object()) {
      const Place place = places.key(at);
      const std::string& line = lines.at(static_cast<std::size_t>(place.line - 1));
      EXPECT_EQ(line.find(key, static_cast<std::size_t>(place.column - 1)) -
                    static_cast<std::size_t>(place.column - 1),
                line[static_cast<std::size_t>(place.column - 1)] == '"' ? 1u : 0u)
          << at;
    }
    if (member.is_structured()) {
      expect_found(member, at, places, lines);
    } else {
      const std::string token = token_at(lines, places.value(at));
      EXPECT_TRUE(member == token || member == plain_scalar(token))
          << at << ": " << member << " is not " << token;
    }
  }
}

TEST(Places, NameTheLineAndColumnOfEveryValue) {
  for (const char* name : {"everything", "smallest", "scaling-weak", "scaling-strong-sweep", "command"}) {
    const std::string text =
        read_file(test::source_path("schemas/cases/good/" + std::string(name) + ".yaml"));
    SourceMap places;
    Problems problems("p", places);
    const auto document = read_yaml(text, places, problems);
    ASSERT_TRUE(document.has_value());
    ASSERT_GE(document->size(), 4u);
    expect_found(*document, "", places, lines_of(text));
  }
}

TEST(Places, CountCharactersNotBytes) {
  SourceMap places;
  Problems problems("p", places);
  ASSERT_TRUE(read_yaml("a: {\"ü\": \"東京\", b: 7}\n", places, problems).has_value());
  EXPECT_EQ(places.key("/a/b"), (Place{1, 16}));
  EXPECT_EQ(places.value("/a/b"), (Place{1, 19}));
}

TEST(Places, AValueThatIsSetForgetsOnlyWhatItHeld) {
  SourceMap places;
  for (const char* pointer : {"/lr", "/lr/a", "/lr_end", "/l"}) places.set_written(pointer, "0x10");
  places.set("/lr", {kBesideTheFile, kBesideTheFile});
  EXPECT_EQ(places.written("/lr"), nullptr);
  EXPECT_EQ(places.written("/lr/a"), nullptr);
  EXPECT_NE(places.written("/lr_end"), nullptr);
  EXPECT_NE(places.written("/l"), nullptr);
}

TEST(Places, FallBackToWhatIsAround) {
  SourceMap places;
  places.add("", {{1, 1}, {1, 1}});
  places.add("/a", {{2, 1}, {2, 4}});
  EXPECT_EQ(places.value("/a/missing/deeper"), (Place{2, 4}));
  EXPECT_EQ(places.value("/other"), (Place{1, 1}));
}

}  // namespace
}  // namespace podium
