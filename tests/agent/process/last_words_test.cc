#include "agent/process/last_words.h"

#include <gtest/gtest.h>

namespace podium {
namespace {

TEST(LastErrorNote, IsTheLastErrorAmongTheEvents) {
  EXPECT_EQ(last_error_note("tep\":1}\n"
                            "{\"type\":\"note\",\"level\":\"error\",\"message\":\"first\"}\n"
                            "{\"type\":\"note\",\"level\":\"error\",\"message\":\"disk full: ckpt\"}\n"
                            "{\"type\":\"note\",\"level\":\"info\",\"message\":\"bye\"}\n"
                            "{\"type\":\"finished\",\"status\":\"failed\"}\n"),
            "disk full: ckpt");
}

TEST(LastErrorNote, IsEmptyWhereThereIsNone) {
  EXPECT_EQ(last_error_note(""), "");
  EXPECT_EQ(last_error_note("not json\n[1]\n{\"type\":3}\n"), "");
}

TEST(RecordedError, IsTheExceptionThatTorchRecorded) {
  EXPECT_EQ(recorded_error(R"({"message": {"message": "ValueError: no shard 7", "extraInfo":
                               {"py_callstack": "Traceback…", "timestamp": "1671400000"}}})"),
            "ValueError: no shard 7");
  EXPECT_EQ(recorded_error(R"({"message": "of C++"})"), "of C++");
  EXPECT_EQ(recorded_error(R"({"message": ")" + std::string(10'000, 'x') + "\"}").size(), 500U);
}

TEST(RecordedError, SaysWhen) {
  EXPECT_EQ(recorded_seconds(R"({"message": {"message": "x", "extraInfo": {"timestamp": "1671400000"}}})"),
            1671400000);
  EXPECT_EQ(recorded_seconds(R"({"message": "of C++", "timestamp": 1671400001})"), 1671400001);
  for (const char* const file :
       {"", "{", "[]", R"({"message": {"message": "x"}})", R"({"timestamp": "soon"})", R"({"timestamp": -3})",
        R"({"timestamp": "99999999999999"})", R"({"message": {"extraInfo": 7, "timestamp": []}})"})
    EXPECT_EQ(recorded_seconds(file), 0) << file;
  std::string deep = R"({"timestamp": )";
  deep.append(500'000, '[').append(500'000, ']');
  EXPECT_EQ(recorded_seconds(deep + "}"), 0);
}

TEST(RecordedError, IsOneLine) {
  EXPECT_EQ(
      recorded_error(R"({"message": "\n CUDA error: device-side assert\nCompile with TORCH_USE_CUDA_DSA"})"),
      " CUDA error: device-side assert");
}

TEST(RecordedError, IsReadAtAnyDepth) {
  std::string deep;
  for (int level = 0; level < 90'000; ++level) deep += R"({"message":)";
  EXPECT_EQ(recorded_error(deep + "\"x\"" + std::string(90'000, '}')), "");
}

TEST(RecordedError, IsEmptyWhereThereIsNone) {
  for (const char* const file :
       {"", "{", "[]", "7", R"({"error": 1})", R"({"message": {"message": 3}})", R"({"message": " \n"})"})
    EXPECT_EQ(recorded_error(file), "") << file;
}

TEST(LastEvent, SaysWhetherTheProgramLeftBeforeItWasThrough) {
  EXPECT_TRUE(says_preempted("ep\":1}\n{\"type\":\"finished\",\"status\":\"preempted\"}\n"));
  EXPECT_FALSE(
      says_preempted("{\"type\":\"finished\",\"status\":\"preempted\"}\n"
                     "{\"type\":\"finished\",\"status\":\"succeeded\"}\n"));
  EXPECT_FALSE(says_preempted("{\"type\":\"note\",\"status\":\"preempted\"}\n"));
  EXPECT_FALSE(says_preempted(""));
}

TEST(LastLine, SkipsBlankOnes) {
  EXPECT_EQ(last_line("Traceback\nKeyError: 'x'\n\n  \r\n"), "KeyError: 'x'");
}

TEST(LastLine, IsAlwaysValidText) {
  EXPECT_EQ(last_line("bad \xff byte"), "bad \xef\xbf\xbd byte");
  EXPECT_EQ(last_line(std::string(10'000, 'x')).size(), 500U);
  EXPECT_EQ(last_line("\n\n"), "");
}

}  // namespace
}  // namespace podium
