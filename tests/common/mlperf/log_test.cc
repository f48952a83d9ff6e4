#include "common/mlperf/log.h"

#include <gtest/gtest.h>

namespace podium::mlperf {
namespace {

const std::string kBody =
    R"({"namespace": "", "time_ms": 1593152760458, "event_type": "INTERVAL_START", "key": "run_start", "value": null, "metadata": {"file": "a.py", "lineno": 7}})";

TEST(MlperfLog, DropsWhatStandsBeforeTheTokenAndOtherLines) {
  const Log log = read_log("hello\n12: :::MLLOG " + kBody + "\r\n\n:::MLLOG" + kBody);
  ASSERT_EQ(log.lines.size(), 2u);
  EXPECT_TRUE(log.broken.empty());
  EXPECT_EQ(log.lines[0].number, 2);
  EXPECT_EQ(log.lines[1].number, 4);
  EXPECT_EQ(log.lines[0].time_ms, 1593152760458);
  EXPECT_EQ(log.lines[0].event, "INTERVAL_START");
  EXPECT_EQ(log.lines[0].key, "run_start");
  EXPECT_TRUE(log.lines[0].value.is_null());
  EXPECT_EQ(log.lines[0].number_in("lineno"), 7);
  EXPECT_EQ(log.lines[0].number_in("file"), std::nullopt);
  EXPECT_EQ(log.lines[0].number_in("other"), std::nullopt);
}

TEST(MlperfLog, TellsWhatIsForeign) {
  EXPECT_TRUE(read_log("").is_foreign());
  EXPECT_TRUE(read_log("Epoch 1: loss 3\n:::MLL 15 {}\n").is_foreign());
  EXPECT_FALSE(read_log(":::MLLOG {").is_foreign());
}

TEST(MlperfLog, NumbersBrokenLines) {
  const auto broken = [](std::string line) {
    const Log log = read_log("\n:::MLLOG " + line + "\n:::MLLOG " + kBody);
    EXPECT_EQ(log.lines.size(), 1u) << line;
    return log.broken.size() == 1 && log.broken[0].number == 2 ? log.broken[0].what : "not broken: " + line;
  };
  const auto with = [](const std::string& from, const std::string& to) {
    std::string line = kBody;
    return line.replace(line.find(from), from.size(), to);
  };
  EXPECT_EQ(broken("{"), "the text behind :::MLLOG is not JSON");
  EXPECT_EQ(broken("[1]"), "the text behind :::MLLOG is not a JSON object");
  EXPECT_EQ(broken(with("null", "nul")), "the text behind :::MLLOG is not JSON");
  EXPECT_EQ(broken(with("a.py", "\xff")), "the text behind :::MLLOG is not JSON");
  EXPECT_EQ(broken(with("\"value\"", "\"values\"")), "the line has no \"value\"");
  for (const char* time : {"\"now\"", "-1", "1e300", "null"})
    EXPECT_EQ(broken(with("1593152760458", time)), "time_ms is not a number of milliseconds since 1970")
        << time;
  EXPECT_EQ(broken(with("INTERVAL_START", "START")),
            "event_type is not INTERVAL_START, INTERVAL_END or POINT_IN_TIME");
  for (const char* space : {"7", "null", "\"mine\""})
    EXPECT_EQ(broken(with("\"namespace\": \"\"", std::string("\"namespace\": ") + space)),
              "namespace is not the empty text that MLPerf Training's is");
  EXPECT_EQ(broken(with("1593152760458", "1e999")), "the text behind :::MLLOG is not JSON");
  EXPECT_EQ(broken(with("1593152760458", "NaN")), "the text behind :::MLLOG is not JSON");
  EXPECT_EQ(broken(with("run_start", "")), "key is not a name");
  EXPECT_EQ(broken(with("run_start", std::string(201, 'k'))), "key is not a name");
  EXPECT_EQ(broken(with(R"({"file": "a.py", "lineno": 7})", "3")), "metadata is not an object");
  EXPECT_EQ(broken(with("a.py", std::string(65536, 'a'))),
            "the line has 65686 bytes, where 65536 are the most");
  EXPECT_EQ(broken(std::string(60000, '[')), "the text behind :::MLLOG is not JSON");
  EXPECT_EQ(broken(std::string(30000, '[') + std::string(30000, ']')),
            "the text behind :::MLLOG is not a JSON object");
}

TEST(MlperfLog, WritesWhatItReads) {
  const std::string text = ":::MLLOG " + kBody + "\n";
  std::string written = line_text(read_log(text).lines.at(0));
  EXPECT_EQ(nlohmann::json::parse(written.substr(9)), nlohmann::json::parse(kBody));
  EXPECT_EQ(
      written.rfind(
          R"(:::MLLOG {"namespace":"","time_ms":1593152760458,"event_type":"INTERVAL_START","key":"run_start","value":null,"metadata":)",
          0),
      0u);
  EXPECT_EQ(written.back(), '\n');
}

TEST(MlperfLog, ShowsValuesShortly) {
  EXPECT_EQ(value_text(nullptr), "null");
  EXPECT_EQ(value_text("a\nb"), "\"a\\nb\"");
  EXPECT_EQ(value_text(0.72), "0.72");
  EXPECT_EQ(value_text(nlohmann::json::parse(std::string(5000, '[') + std::string(5000, ']'))), "a list");
  EXPECT_EQ(value_text({{"a", 1}}), "an object");
  EXPECT_LE(value_text(std::string(1000, 'x')).size(), 90u);
}

}  // namespace
}  // namespace podium::mlperf
