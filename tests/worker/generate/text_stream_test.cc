// Text that comes in pieces against the whole of it, read the slow way.
#include "worker/generate/text_stream.h"

#include <gtest/gtest.h>

#include "worker/tensor/random.h"

namespace podium {
namespace {

struct Told {
  std::string text;
  bool stopped;
  std::vector<std::string> pieces;

  bool operator==(const Told& other) const { return text == other.text && stopped == other.stopped; }
};

Told tell(const std::vector<std::string>& tokens, const std::vector<std::string>& stops) {
  TextStream stream(stops);
  Told told{};
  const auto add = [&](const std::string& piece) {
    told.pieces.push_back(piece);
    told.text += piece;
  };
  for (const std::string& token : tokens) {
    add(stream.add(token));
    if (stream.stopped()) break;
  }
  if (!stream.stopped()) add(stream.finish());
  told.stopped = stream.stopped();
  return told;
}

// The shortest beginning that ends with a stop string, without the longest of those.
Told literal(const std::string& text, const std::vector<std::string>& stops) {
  for (std::size_t end = 1; end <= text.size(); ++end) {
    std::size_t longest = 0;
    for (const std::string& stop : stops)
      if (text.substr(0, end).ends_with(stop)) longest = std::max(longest, stop.size());
    if (longest > 0) return {text.substr(0, end - longest), true, {}};
  }
  return {text, false, {}};
}

TEST(TextStream, StopsAsTheWholeTextWould) {
  Random random(3, 1);
  const std::string letters = "aab";
  const auto draw = [&](std::uint32_t least, std::uint32_t most) {
    std::string text;
    for (std::uint32_t left = least + random.below(most - least + 1); left > 0; --left)
      text += letters[random.below(3)];
    return text;
  };
  int stopped = 0;
  for (int round = 0; round < 5000; ++round) {
    std::vector<std::string> tokens, stops;
    for (int i = 0; i < 8; ++i) tokens.push_back(draw(0, 3));
    for (std::uint32_t i = random.below(4); i > 0; --i) stops.push_back(draw(1, 5));
    std::string whole;
    for (const std::string& token : tokens) whole += token;
    const Told told = tell(tokens, stops);
    EXPECT_EQ(told, literal(whole, stops)) << whole;
    stopped += told.stopped;
  }
  EXPECT_GT(stopped, 1000);
  EXPECT_LT(stopped, 4500);
}

TEST(TextStream, HoldsBackOnlyWhatMayBecomeAStopString) {
  EXPECT_EQ(tell({"to ", "the EN", "X", " END", "."}, {"END."}).pieces,
            (std::vector<std::string>{"to ", "the ", "ENX", " ", ""}));
  EXPECT_EQ(tell({"ab", "c"}, {"abcd", "bx"}).pieces, (std::vector<std::string>{"", "", "abc"}));
}

TEST(TextStream, TellsCharactersWhole) {
  const std::string smile = "\xF0\x9F\x98\x80", euro = "\xE2\x82\xAC";
  EXPECT_EQ(tell({"a" + smile.substr(0, 1), smile.substr(1, 2), smile.substr(3) + "b"}, {}).pieces,
            (std::vector<std::string>{"a", "", smile + "b", ""}));
  EXPECT_EQ(tell({euro.substr(0, 2), euro.substr(2)}, {euro}).text, "");
  EXPECT_TRUE(tell({euro.substr(0, 2), euro.substr(2)}, {euro}).stopped);
}

// As Python's bytes.decode(errors="replace").
TEST(TextStream, ReplacesWhatIsNoCharacter) {
  const std::string bad = "\xEF\xBF\xBD";
  for (const auto& [bytes, expected] :
       std::vector<std::pair<std::string, std::string>>{{"a\xFF"
                                                         "b",
                                                         "a" + bad + "b"},
                                                        {"\x80\x80", bad + bad},
                                                        {"\xE2\x82", bad},  // cut short at the end
                                                        {"\xE2\x82"
                                                         "c",
                                                         bad + "c"},  // and before another one
                                                        {"\xF0\x9F\x98", bad},
                                                        {"\xC0\xAF", bad + bad},  // longer than it need be
                                                        {"\xED\xA0\x80", bad + bad + bad},  // a surrogate
                                                        {"\xF5\x80\x80\x80", bad + bad + bad + bad}}) {
    std::vector<std::string> single;
    for (const char byte : bytes) single.emplace_back(1, byte);
    EXPECT_EQ(tell({bytes}, {}).text, expected);
    EXPECT_EQ(tell(single, {}).text, expected) << "byte by byte";
  }
}

TEST(TextStream, AReplacementMayStopTheText) {
  const Told told = tell({"a\xE2\x82"}, {"\xEF\xBF\xBD"});
  EXPECT_EQ(told.text, "a");
  EXPECT_TRUE(told.stopped);
}

}  // namespace
}  // namespace podium
