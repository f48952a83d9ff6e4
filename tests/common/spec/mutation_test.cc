// Damaged specs, drawn from a fixed seed: whatever is done to a good file, loading it ends in jobs or in
// errors that say where and what, never in a crash or an exception.
#include <gtest/gtest.h>

#include <random>

#include "common/base/file.h"
#include "common/spec/load.h"
#include "tests/common/spec/files.h"
#include "tests/paths.h"

namespace podium {
namespace {

class Mutator {
 public:
  explicit Mutator(std::uint32_t seed) : random_(seed) {}

  std::string mutate(std::string text) {
    for (std::size_t i = 0, times = 1 + draw(3); i < times; ++i) change(text);
    return text;
  }

 private:
  std::size_t draw(std::size_t below) {
    return std::uniform_int_distribution<std::size_t>(0, below - 1)(random_);
  }

  void change(std::string& text) {
    static const std::vector<std::string> kTokens = {":",
                                                     "{",
                                                     "}",
                                                     "[",
                                                     "]",
                                                     ",",
                                                     "- ",
                                                     "&a ",
                                                     "*a",
                                                     "<<: ",
                                                     "null",
                                                     "~",
                                                     "-1",
                                                     "0",
                                                     "1e999",
                                                     "9999999999999999999999",
                                                     "\"",
                                                     "'",
                                                     "\n",
                                                     "\n  ",
                                                     "\t",
                                                     "#",
                                                     "|",
                                                     ">",
                                                     "? ",
                                                     "!x ",
                                                     "---",
                                                     "...",
                                                     "%YAML 9",
                                                     "true",
                                                     "x",
                                                     "/",
                                                     "~1",
                                                     "\xC3\xBC",
                                                     "\xFF",
                                                     "scaling: {devices: [0]}",
                                                     "sweep: {model.layers: [1, 2]}",
                                                     "command: [a]",
                                                     "model: 3\n",
                                                     std::string(1, '\0')};
    const std::size_t at = draw(text.size() + 1);
    const std::size_t length = std::min(draw(12), text.size() - at);
    switch (draw(5)) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text.insert(at, kTokens[draw(kTokens.size())]);
        break;
      case 2:
        text.replace(at, length, kTokens[draw(kTokens.size())]);
        break;
      case 3:
        text.insert(draw(text.size() + 1), text.substr(at, draw(60)));
        break;
      default:
        replace_word(text, at, kTokens[draw(kTokens.size())]);
    }
  }

  // Puts `token` in place of the value or key around `at`.
  static void replace_word(std::string& text, std::size_t at, const std::string& token) {
    const char* ends = " ,:{}[]\n";
    const std::size_t before = text.find_last_of(ends, at == 0 ? 0 : at - 1);
    const std::size_t begin = before == std::string::npos ? 0 : before + 1;
    const std::size_t end = std::min(text.find_first_of(ends, begin), text.size());
    text.replace(begin, end - begin, token);
  }

  std::mt19937 random_;
};

TEST(SpecMutations, NeverCrashAndAlwaysExplain) {
  std::vector<std::string> seeds;
  for (const auto& file : test::yaml_files("schemas/cases/good")) seeds.push_back(read_file(file));
  for (const char* name : {"many-mistakes", "study", "combinations", "phases", "layouts"})
    seeds.push_back(read_file(test::source_path("schemas/cases/bad/" + std::string(name) + ".yaml")));
  Mutator mutator(20260301);
  int loaded_count = 0;
  int refused_count = 0;
  for (int round = 0; round < 4000; ++round) {
    const std::string text = mutator.mutate(seeds[static_cast<std::size_t>(round) % seeds.size()]);
    const auto loaded = load_experiment(text, "m.yaml");
    if (loaded.ok()) {
      ++loaded_count;
      const auto again = load_experiment(loaded->normalised.dump(), "n.yaml");
      ASSERT_TRUE(again.ok()) << text << "\n" << describe(again.errors());
      ASSERT_EQ(again->normalised, loaded->normalised) << text;
      continue;
    }
    ++refused_count;
    for (const Error& error : loaded.errors()) {
      ASSERT_FALSE(error.message.empty()) << text;
      ASSERT_EQ(error.where.rfind("m.yaml:", 0), 0u) << text;
    }
  }
  EXPECT_GT(loaded_count, 100);
  EXPECT_GT(refused_count, 1000);
}

}  // namespace
}  // namespace podium
