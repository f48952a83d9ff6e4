#include "worker/prepare/prepare_report.h"

#include <numeric>

namespace podium {
namespace {

constexpr std::array<std::string_view, 6> kReasons{"empty",    "not UTF-8", "not JSON",
                                                   "no field", "too long",  "damaged file"};
constexpr std::size_t kPlacesTold = 5;

}  // namespace

std::string_view to_string(SkipReason reason) { return kReasons[static_cast<std::size_t>(reason)]; }

std::string describe(const Skip& skip, const std::vector<std::filesystem::path>& files) {
  return files[skip.file].string() + ":" + std::to_string(skip.line) + ": " + skip.detail;
}

void PrepareReport::add(const EncodedBatch& batch, const std::vector<std::filesystem::path>& files) {
  tokens += std::accumulate(batch.lengths.begin(), batch.lengths.end(), std::int64_t{0});
  text_bytes += batch.text_bytes;
  for (const Skip& skip : batch.skips) {
    Skipped& those = skipped[static_cast<std::size_t>(skip.reason)];
    ++those.count;
    if (those.first.size() < kPlacesTold) those.first.push_back(describe(skip, files));
  }
}

nlohmann::json to_json(const PrepareReport& report) {
  nlohmann::json skipped = nlohmann::json::object();
  for (std::size_t i = 0; i < kReasons.size(); ++i)
    if (report.skipped[i].count > 0)
      skipped[std::string(kReasons[i])] = {{"count", report.skipped[i].count},
                                           {"first", report.skipped[i].first}};
  return {{"documents", report.data.documents},
          {"sequences", report.data.sequences},
          {"tokens", report.tokens},
          {"token_bytes", report.data.token_bytes},
          {"text_bytes", report.text_bytes},
          {"skipped", skipped}};
}

PrepareReport prepare_report_from_json(const nlohmann::json& json) {
  PrepareReport report;
  report.data = {json.at("token_bytes"), json.at("sequences"), json.at("documents")};
  json.at("tokens").get_to(report.tokens);
  json.at("text_bytes").get_to(report.text_bytes);
  for (std::size_t i = 0; i < kReasons.size(); ++i) {
    const auto found = json.at("skipped").find(kReasons[i]);
    if (found == json.at("skipped").end()) continue;
    found->at("count").get_to(report.skipped[i].count);
    found->at("first").get_to(report.skipped[i].first);
  }
  return report;
}

}  // namespace podium
