#include "worker/checkpoint/manifest.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <regex>

#include "common/base/file.h"
#include "common/model/spec_wire.h"
#include "worker/formats/hashed_file.h"

namespace podium {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kFormatVersion = 3;
constexpr int kOldestRead = 2;  // which told neither of its text nor of batches that were passed over

std::string to_text(const json& manifest) { return manifest.dump(1) + "\n"; }

std::string checksum_of(const std::string& text) {
  Xxh3 hash;
  hash.add(std::as_bytes(std::span(text)));
  return hash.digest().xxh3;
}

json to_json(const CheckpointState& state) {
  const auto& [tensor, pipeline, data] = state.layout;
  const LossScalerState& scaler = state.loss_scaler;
  json out{{"step", state.step},
           {"phase", state.phase},
           {"samples", state.samples},
           {"passed_over", state.passed_over},
           {"text", to_json(state.text)},
           {"layout", {{"tensor", tensor}, {"pipeline", pipeline}, {"data", data}}},
           {"loss_scaler",
            {{"scale", scaler.scale},
             {"clean_steps", scaler.clean_steps},
             {"skipped", scaler.skipped},
             {"not_finite", scaler.not_finite},
             {"in_a_row", scaler.in_a_row}}},
           {"target_reached", state.target_reached},
           {"spec", to_wire_json(state.spec)}};
  if (state.vocabulary.known()) out["vocabulary"] = to_json(state.vocabulary);
  if (!state.labels.empty()) out["labels"] = state.labels;
  if (state.best.known())
    out["best"] = {{"metric", state.best.metric}, {"step", state.best.step}, {"value", state.best.value}};
  if (state.origin.known()) out["origin"] = to_json(state.origin);
  if (!state.quantised.ranges.empty())
    out["quantised"] = {{"format", to_string(state.quantised.format)}, {"ranges", state.quantised.ranges}};
  if (!state.products.is_null()) out["products"] = state.products;
  return out;
}

// A range is a magnitude by which inference divides.
QuantisedInputs quantised_from(const json& in) {
  QuantisedInputs quantised{.format = quantise_spec_from_json({{"format", in.at("format")}}).format};
  in.at("ranges").get_to(quantised.ranges);
  for (const auto& [product, range] : quantised.ranges)
    if (!std::isfinite(range) || range < 0)
      throw std::runtime_error(fmt::format("the range of {} is no magnitude: {}", product, range));
  return quantised;
}

CheckpointState state_from_json(const json& in) {
  CheckpointState state;
  state.step = in.at("step");
  state.phase = in.at("phase");
  state.samples = in.at("samples");
  state.passed_over = in.value("passed_over", std::int64_t{0});
  if (const auto text = in.find("text"); text != in.end()) state.text = text_identity_from_json(*text);
  if (const auto vocabulary = in.find("vocabulary"); vocabulary != in.end())
    state.vocabulary = vocabulary_identity_from_json(*vocabulary);
  state.labels = in.value("labels", std::vector<std::string>{});
  const json& layout = in.at("layout");
  state.layout = {layout.at("tensor"), layout.at("pipeline"), layout.at("data")};
  const json& scaler = in.at("loss_scaler");
  state.loss_scaler = {scaler.at("scale"), scaler.at("clean_steps"), scaler.at("skipped"),
                       scaler.value("not_finite", std::int64_t{0}),
                       scaler.value("in_a_row", std::int64_t{0})};
  state.target_reached = in.at("target_reached");
  if (const auto best = in.find("best"); best != in.end())
    state.best = {best->at("metric"), best->at("step"), best->at("value")};
  if (const auto origin = in.find("origin"); origin != in.end()) state.origin = origin_from_json(*origin);
  if (const auto quantised = in.find("quantised"); quantised != in.end())
    state.quantised = quantised_from(*quantised);
  state.spec = job_spec_from_json(in.at("spec"));
  state.products = in.value("products", json());
  return state;
}

void check_version(const json& manifest) {
  const json& version = manifest.at("version");
  if (version.is_number_integer() && version >= kOldestRead && version <= kFormatVersion) return;
  throw UnknownCheckpointVersion(
      fmt::format("it has checkpoint format {}; this program reads formats {} to {}: continue it with the "
                  "program that wrote it, or choose another checkpoint folder",
                  version.dump(), kOldestRead, kFormatVersion));
}

}  // namespace

std::int64_t CheckpointManifest::bytes() const {
  std::int64_t sum = 0;
  for (const auto& [name, part] : files) sum += part.digest.bytes;
  return sum;
}

json to_json(const CheckpointPart& part) {
  json pieces = json::array();
  for (const Piece& piece : part.pieces) pieces.push_back(to_json(piece));
  return {{"bytes", part.digest.bytes}, {"xxh3", part.digest.xxh3}, {"pieces", pieces}};
}

CheckpointPart checkpoint_part_from_json(const json& in) {
  CheckpointPart part{{in.at("bytes"), in.at("xxh3")}, {}};
  for (const json& piece : in.at("pieces")) part.pieces.push_back(piece_from_json(piece));
  return part;
}

std::string manifest_text(const CheckpointManifest& manifest) {
  json out = to_json(manifest.state);
  out["version"] = kFormatVersion;
  out["files"] = json::object();
  for (const auto& [name, part] : manifest.files) out["files"][name] = to_json(part);
  out["xxh3"] = checksum_of(out.dump());
  return to_text(out);
}

CheckpointManifest parse_manifest(const std::string& text) {
  json in = json::parse(text);
  if (!in.contains("xxh3")) check_version(in);  // format 1 had no checksum
  const bool as_written = to_text(in) == text;
  const std::string checksum = in.at("xxh3");
  in.erase("xxh3");
  if (!as_written || checksum_of(in.dump()) != checksum)
    throw std::runtime_error(std::string(kManifestName) + " is not as it was saved");
  check_version(in);
  CheckpointManifest manifest{state_from_json(in), {}, checksum};
  for (int rank = 0; rank < manifest.state.layout.world(); ++rank)
    manifest.files[part_name(rank)] = checkpoint_part_from_json(in.at("files").at(part_name(rank)));
  return manifest;
}

CheckpointManifest read_manifest(const fs::path& checkpoint) {
  return parse_manifest(read_file(checkpoint / kManifestName));
}

void verify_file(const fs::path& checkpoint, const std::string& name, const FileDigest& expected) {
  const FileDigest found = digest_of(checkpoint / name);
  if (found.bytes != expected.bytes)
    throw std::runtime_error(fmt::format("{} has {} bytes instead of {}", name, found.bytes, expected.bytes));
  if (found.xxh3 != expected.xxh3)
    throw std::runtime_error(name + " does not have the checksum it was saved with");
}

std::string tensor_name(const std::string& kind, const Piece& piece) {
  const std::string name = kind + "/" + piece.parameter;
  if (piece.size() == piece.box.size()) return name;
  return fmt::format("{}[{}:{}]", name, piece.first, piece.last);
}

std::vector<std::int64_t> tensor_shape(const Piece& piece) {
  if (piece.size() == piece.box.size()) return piece.box.shape();
  return {piece.size()};
}

std::string checkpoint_name(std::int64_t step) { return fmt::format("step-{:08}", step); }
std::int64_t step_of(const std::string& checkpoint_name) { return std::stoll(checkpoint_name.substr(5)); }
std::string part_name(int rank) { return fmt::format("rank-{:05}.safetensors", rank); }
std::string record_name(int rank) { return fmt::format("rank-{:05}.json", rank); }

std::vector<std::string> checkpoints_in(const fs::path& folder) {
  static const std::regex pattern("step-[0-9]{8,18}");
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    if (std::regex_match(entry.path().filename().string(), pattern)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end(),
            [](const std::string& a, const std::string& b) { return step_of(a) > step_of(b); });
  return names;
}

}  // namespace podium
