// The quick reader beside the one of any JSON: where it says something, it says the same.
#include "coordinator/mlflow/plain_log.h"

#include <gtest/gtest.h>

#include <cmath>

#include "coordinator/mlflow/fields.h"
#include "coordinator/mlflow/names.h"

namespace podium::mlflow {
namespace {

const std::string kPoint = R"({"key": "loss", "value": 0.5, "timestamp": 1700000000000, "step": 3})";

std::string batch(const std::string& metrics, const std::string& more = "") {
  return R"({"run_id": "abc", "metrics": [)" + metrics + "]" + more + "}";
}

TEST(PlainLog, ReadsWhatClientsSend) {
  const auto one = read_plain_metric(
      R"({"run_uuid": "abc", "run_id": "abc", "key": "train/loss 1", "value": -1.5e-3, "timestamp": 17, "step": -3})");
  ASSERT_TRUE(one);
  EXPECT_EQ(one->run_id, "abc");
  EXPECT_EQ(one->points.at(0).key, "train/loss 1");
  EXPECT_EQ(one->points.at(0).value, -1.5e-3);
  EXPECT_EQ(one->points.at(0).time_ms, 17);
  EXPECT_EQ(one->points.at(0).step, -3);
  const auto many =
      read_plain_batch(batch(kPoint + ",\n\t" + R"({"timestamp":9223372036854775807,"key":"a","value":7})",
                             R"(, "params": [], "tags": [])"));
  ASSERT_TRUE(many);
  ASSERT_EQ(many->points.size(), 2u);
  EXPECT_EQ(many->points.at(0).step, 3);
  EXPECT_EQ(many->points.at(1).time_ms, INT64_MAX);
  EXPECT_EQ(many->points.at(1).step, 0);
  EXPECT_TRUE(read_plain_batch(R"({"metrics":[],"run_id":"abc"})"));
}

TEST(PlainLog, LeavesToTheOtherWhatItDoesNotKnow) {
  for (const char* part :
       {R"("value": "NaN")", R"("value": 1.)", R"("value": 01)", R"("value": .5)", R"("value": inf)",
        R"("value": 1e999)", R"("value": null)", R"("value": +1)", R"("value": 1, "value": 2)",
        R"("value": 1, "other": 2)", R"("value": -)", R"("value": nan)", R"("value": "1")"})
    EXPECT_FALSE(read_plain_metric(std::string(R"({"run_id":"a","key":"b","timestamp":1,)") + part + "}"))
        << part;
  for (const char* part : {R"("timestamp": 1.5)", R"("timestamp": 1e3)", R"("timestamp": -1)",
                           R"("timestamp": "1")", R"("timestamp": 9223372036854775808)", R"("step": 1)", ""})
    EXPECT_FALSE(read_plain_batch(batch(std::string(R"({"key":"b","value":1,)") + part + "}"))) << part;
  for (const char* key : {"", "a//b", "a\\u0041",
                          "Gr\xc3\xb6\xc3\x9f"
                          "e",
                          "a\x01"})
    EXPECT_FALSE(read_plain_batch(batch(std::string(R"({"value":1,"timestamp":1,"key":")") + key + "\"}")))
        << key;
  for (const char* more : {R"(, "params": [{"key":"a","value":"b"}])", R"(, "tags": {})",
                           R"(, "metrics": [])", R"(, "run_uuid": "other")", R"(, "new": 1)", ","})
    EXPECT_FALSE(read_plain_batch(batch(kPoint, more))) << more;
  for (const std::string& text : {std::string(), std::string("[]"), batch(kPoint) + "x", batch(kPoint + ","),
                                  std::string("{}"), R"({"metrics":[)" + kPoint + "]}", batch("7")})
    EXPECT_FALSE(read_plain_batch(text)) << text;
}

// Every cut, and every change of a byte, of a good body: both read the same, or the quick one says nothing.
TEST(PlainLog, NeverReadsWhatIsNoJson) {
  const std::string good = batch(kPoint + R"(,{"key":"b c","value":-2e+1,"timestamp":0})", R"(,"tags":[])");
  ASSERT_TRUE(read_plain_batch(good));
  int read = 0;
  const auto check = [&](const std::string& body) {
    const auto plain = read_plain_batch(body);
    if (!plain) return;
    ++read;
    ServerRequest request;
    request.method = "POST";
    request.body = body;
    Fields fields(request);
    ASSERT_TRUE(fields.errors().empty()) << body;
    EXPECT_EQ(fields.text("run_id").value_or(fields.text("run_uuid").value_or("")), plain->run_id) << body;
    std::vector<Fields> metrics = fields.objects("metrics", 1000);
    ASSERT_EQ(metrics.size(), plain->points.size()) << body;
    for (std::size_t i = 0; i < metrics.size(); ++i) {
      EXPECT_EQ(metrics[i].needed_text("key"), plain->points[i].key);
      EXPECT_EQ(metrics[i].needed_number("value"), plain->points[i].value) << body;
      EXPECT_EQ(metrics[i].needed_integer("timestamp"), plain->points[i].time_ms) << body;
      EXPECT_EQ(metrics[i].integer("step").value_or(0), plain->points[i].step) << body;
      EXPECT_TRUE(metrics[i].errors().empty()) << body;
      EXPECT_EQ(wrong_key("metric", plain->points[i].key), "");
    }
  };
  for (std::size_t at = 0; at < good.size(); ++at) {
    check(good.substr(0, at));
    for (const char c : std::string("\"\\{}[],:0-.eE1 x\n\x7f\x80")) {
      std::string changed = good;
      changed[at] = c;
      check(changed);
      changed.insert(at, 1, c);
      check(changed);
    }
  }
  EXPECT_GT(read, 200);
}

}  // namespace
}  // namespace podium::mlflow
