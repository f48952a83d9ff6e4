// What came of preparing text, which is also how far it has come: a pure function of the text up to a place.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "worker/data/megatron_writer.h"
#include "worker/prepare/document_encoder.h"

namespace podium {

std::string_view to_string(SkipReason reason);

struct PrepareReport {
  MegatronState data;
  std::int64_t tokens = 0;
  std::uint64_t text_bytes = 0;  // unpacked
  struct Skipped {
    std::int64_t count = 0;
    std::vector<std::string> first;  // "file:line: why" of the first few
  };
  std::array<Skipped, 6> skipped;  // by SkipReason

  void add(const EncodedBatch& batch, const std::vector<std::filesystem::path>& files);
};

// "file:line: why"
std::string describe(const Skip& skip, const std::vector<std::filesystem::path>& files);

nlohmann::json to_json(const PrepareReport& report);
PrepareReport prepare_report_from_json(const nlohmann::json& json);

}  // namespace podium
