#include "worker/generate/end_tokens.h"

#include <gmock/gmock.h>

#include "common/base/file.h"
#include "tests/temp_folder.h"
#include "tests/worker/tokenizer/byte_vocabulary.h"
#include "worker/input/bad_data.h"

namespace podium {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;
using Ids = std::vector<std::int32_t>;

class EndTokens : public testing::Test {
 protected:
  Ids found() const { return end_tokens(folder_.path(), tokenizer_); }
  void write(const std::string& name, const std::string& text) {
    write_file_atomic(folder_.path() / name, text);
  }

  TempFolder folder_;
  BpeTokenizer tokenizer_{byte_vocabulary({})};  // <|endoftext|> is 256
};

TEST_F(EndTokens, AreTheTokenizersAndThoseOfTheFolder) {
  EXPECT_EQ(found(), Ids{256});
  write("config.json", R"({"eos_token_id": 7})");
  EXPECT_EQ(found(), (Ids{7, 256}));
  write("generation_config.json", R"({"eos_token_id": null})");
  EXPECT_EQ(found(), (Ids{7, 256}));
  write("generation_config.json", R"({"eos_token_id": [3, 9, -1, 99999999999]})");
  EXPECT_EQ(found(), (Ids{3, 9, 256})) << "it goes before config.json";
  write("config.json", R"({"eos_token_id": null})");
  write("generation_config.json", "{}");
  EXPECT_EQ(found(), Ids{256});
}

TEST_F(EndTokens, RefusesWhatIsNoId) {
  for (const std::string bad : {R"("</s>")", "1.5", "[1, null]", "{}", "true"}) {
    write("config.json", R"({"eos_token_id": )" + bad + "}");
    EXPECT_THAT([&] { found(); }, ThrowsMessage<BadData>(HasSubstr("config.json: eos_token_id is neither")))
        << bad;
  }
  write("config.json", "[]");
  EXPECT_THAT([&] { found(); }, ThrowsMessage<BadData>(HasSubstr("config.json is no JSON object")));
}

}  // namespace
}  // namespace podium
