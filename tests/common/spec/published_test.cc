// Files of published figures: what they say, everything that is wrong with one, and MLPerf's against its
// logs.
#include "common/spec/published.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "common/base/file.h"
#include "tests/common/spec/files.h"
#include "tests/worker/shared_data.h"

namespace podium {
namespace {

std::string errors_of(const std::string& yaml) {
  return describe(load_published(yaml, "rows.yaml").errors());
}

TEST(Published, ShippedFilesLoadAndAreWholeInEveryBuild) {
  std::size_t rows = 0;
  for (const auto& file : test::yaml_files("configs/records")) {
    const auto loaded = load_published(read_file(file), file.filename().string());
    ASSERT_TRUE(loaded.ok()) << describe(loaded.errors());
    rows += loaded->size();
  }
  EXPECT_GE(rows, 50u);
  EXPECT_EQ(shipped_published().size(), rows);
}

TEST(Published, RowsAreReadAsTheyStand) {
  const auto rows = load_published(
      "version: 1\nrecords:\n"
      "  - {benchmark: b, what: w, hardware: h, devices: 8, value: 2, unit: h, source: s, date: 2019-08, "
      "batch: 64}\n"
      "  - {benchmark: a, what: w, hardware: h, devices: 16, value: 1.5, unit: min, source: s, date: "
      "\"2019\",\n"
      "     precision: fp16, runs: 3, url: \"https://a.b/c\", note: n}\n",
      "rows.yaml");
  ASSERT_TRUE(rows.ok()) << describe(rows.errors());
  ASSERT_EQ(rows->size(), 2u);
  EXPECT_EQ(rows->at(0).benchmark, "a");
  EXPECT_EQ(to_json(rows->at(0)),
            nlohmann::json::parse(
                R"({"benchmark":"a","what":"w","hardware":"h","devices":16,"value":1.5,"unit":"min",
              "source":"s","date":"2019","file":"rows.yaml","precision":"fp16","runs":3,"url":"https://a.b/c","note":"n",
              "batch":null})"));
  EXPECT_EQ(rows->at(1).batch, 64);
}

TEST(Published, AllMistakesAreToldAtOnceWithTheirPlaces) {
  EXPECT_EQ(
      errors_of("version: 1\n"
                "records:\n"
                "  - {benchmark: Bert Large, what: w, hardware: h, devices: 0, value: 2, source: s, date: "
                "2019-13}\n"
                "  - benchmark: b\n"
                "    what: w\n"
                "    gpus: 8\n"
                "    hardware: h\n"
                "    value: fast\n"
                "    unit: minutes\n"
                "    source: s\n"
                "    date: 2019\n"
                "more: 1\n"),
      "rows.yaml:3:5: records.0 needs the key \"unit\", as in \"min\"\n"
      "rows.yaml:3:17: records.0.benchmark must be words of small letters and digits with hyphens or dots "
      "between, as in \"bert-large-pretraining\", not \"Bert Large\"\n"
      "rows.yaml:3:60: records.0.devices must be at least 1, not 0\n"
      "rows.yaml:3:90: records.0.date must read like \"2019-08\", not \"2019-13\"\n"
      "rows.yaml:4:5: records.1 needs the key \"devices\", as in 1024\n"
      "rows.yaml:6:5: unknown key \"gpus\"; did you mean \"devices\"?\n"
      "rows.yaml:8:12: records.1.value must be a number, as in 67, not \"fast\"\n"
      "rows.yaml:9:11: records.1.unit cannot be \"minutes\". It is one of s, min, h, "
      "ms, "
      "sequences/s, tokens/s, tokens/s/device, TFLOP/s, TFLOP/s/device, PFLOP/s, % of peak, % of linear, %, "
      "perplexity\n"
      "rows.yaml:11:11: records.1.date must be text, as in \"2019-08\", not 2019; put it in quotes: "
      "\"2019\"\n"
      "rows.yaml:12:1: unknown key \"more\"; known here: records, version");
}

TEST(Published, OneRowIsSaidOnce) {
  const std::string row =
      "  - {benchmark: b, what: w, hardware: h, devices: 8, value: 2, unit: h, source: s, date: 2019-08}\n";
  EXPECT_EQ(errors_of("version: 1\nrecords:\n" + row + row),
            "rows.yaml:4:5: records.1 says what records.0 says already; keep one");
}

TEST(Published, WhatIsNoFileOfRowsIsRefused) {
  EXPECT_THAT(errors_of(""), testing::HasSubstr("rows.yaml:1:1"));
  EXPECT_THAT(errors_of("[]"), testing::HasSubstr("the file must be a mapping"));
  EXPECT_THAT(errors_of("version: 1\nrecords: []\n"), testing::HasSubstr("records needs at least one item"));
  EXPECT_THAT(errors_of("version: 2\nrecords: 3\n"), testing::HasSubstr("version cannot be 2"));
}

// MLPerf's rule: of several runs the fastest and the slowest count for nothing.
double olympic_mean(std::vector<double> values) {
  std::ranges::sort(values);
  if (values.size() > 2) values = {values.begin() + 1, values.end() - 1};
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double minutes_of(const std::filesystem::path& log) {
  std::ifstream lines(log);
  std::map<std::string, double> at;
  for (std::string line; std::getline(lines, line);) {
    const auto begin = line.find(":::MLLOG ");
    if (begin == std::string::npos) continue;
    const auto entry = nlohmann::json::parse(line.substr(begin + 9));
    at.emplace(entry.at("key").get<std::string>(), entry.at("time_ms").get<double>());
  }
  return (at.at("run_stop") - at.at("run_start")) / 60'000;
}

TEST(Published, MlperfRowsAreWhatTheLogsSay) {
  const auto folder = shared_data("mlperf/logs");
  if (!folder) GTEST_SKIP() << "skipped: no shared data";
  // By benchmark, round and devices, as the files are named.
  std::map<std::string, std::vector<double>> logs;
  for (const auto& file : std::filesystem::directory_iterator(*folder)) {
    const std::string name = file.path().filename().string();
    const std::string round = name.substr(1, name.find('_') - 1);
    const std::string benchmark = name.substr(name.find('_') + 1, name.find("gpu_") - name.find('_') - 1);
    logs[round + " " + benchmark].push_back(minutes_of(file.path()));
  }
  std::size_t found = 0;
  for (const PublishedRow& row : shipped_published()) {
    if (!row.benchmark.starts_with("mlperf-")) continue;
    const auto round = row.source.find(" v") + 2;
    const std::string key = row.source.substr(round, row.source.find(',') - round) + " " +
                            row.benchmark.substr(7) + "_" + std::to_string(row.devices);
    ASSERT_TRUE(logs.contains(key)) << key;
    EXPECT_NEAR(row.value, olympic_mean(logs.at(key)), 0.0005) << key;
    EXPECT_EQ(row.runs, std::ssize(logs.at(key))) << key;
    ++found;
  }
  EXPECT_EQ(found, logs.size());
}

}  // namespace
}  // namespace podium
