#include "worker/checkpoint/transfer.h"

#include <algorithm>
#include <map>
#include <optional>
#include <system_error>

#include "common/base/check.h"
#include "worker/checkpoint/reader.h"
#include "worker/checkpoint/weights.h"

namespace podium {
namespace {

using Extents = std::vector<std::int64_t>;

std::map<std::string, Extents> shapes_in(const CheckpointManifest& manifest) {
  std::map<std::string, Extents> shapes;
  for (const auto& [name, part] : manifest.files)
    for (const Piece& piece : part.pieces) shapes[piece.parameter] = piece.box.full;
  return shapes;
}

// Whether both are by token and alike otherwise, ours with more of them.
bool grows(const Extents& theirs, int their_vocab, const Extents& ours, int our_vocab) {
  return theirs.size() == ours.size() && !ours.empty() && theirs[0] == their_vocab && ours[0] == our_vocab &&
         theirs[0] < ours[0] && std::equal(theirs.begin() + 1, theirs.end(), ours.begin() + 1);
}

// What a parameter by token has of the rows that are `stored`; they are its first.
std::optional<WantedPiece> first_rows(const Parameter& parameter, const Extents& stored,
                                      ParameterStore& parameters) {
  const Box held = box_of(parameter);
  PODIUM_CHECK(held.axis <= 0, "tensor ranks share what is by token by its rows: " + parameter.name);
  const std::int64_t begin = held.axis == 0 ? held.begin : 0;
  const std::int64_t rows = std::clamp<std::int64_t>(stored[0] - begin, 0, held.shape()[0]);
  if (rows == 0) return std::nullopt;
  const Box box{stored, 0, begin, rows};
  const auto out = parameters.weights(parameter).first(static_cast<std::size_t>(box.size()));
  return WantedPiece{kWeights, {parameter.name, box, 0, box.size()}, out, parameters.memory()};
}

void read(const WholeCheckpoint& from, const std::vector<WantedPiece>& wanted) {
  try {
    CheckpointReader(from.path, from.manifest).read(wanted);
  } catch (const std::system_error& error) {
    refuse_unreadable(from.path, error.what());
  }
}

}  // namespace

std::vector<std::string> transfer_weights(const WholeCheckpoint& from, const ModelSpec& model,
                                          ParameterStore& parameters,
                                          const std::vector<std::string>& left_alone) {
  const std::map<std::string, Extents> stored = shapes_in(from.manifest);
  const int their_vocab = model_of(from.manifest).vocab;
  std::vector<WantedPiece> wanted;
  std::vector<std::string> absent;
  for (const Parameter& parameter : parameters.list()) {
    if (std::ranges::find(left_alone, parameter.name) != left_alone.end()) {
      absent.push_back(parameter.name);
      continue;
    }
    const auto theirs = stored.find(parameter.name);
    const Extents ours = box_of(parameter).full;
    if (theirs != stored.end() && theirs->second == ours) {
      wanted.push_back(
          {kWeights, whole_piece(parameter), parameters.weights(parameter), parameters.memory()});
    } else if (theirs != stored.end() && grows(theirs->second, their_vocab, ours, model.vocab)) {
      if (auto rows = first_rows(parameter, theirs->second, parameters)) wanted.push_back(*std::move(rows));
    } else {
      absent.push_back(parameter.name);
    }
  }
  read(from, wanted);
  parameters.weights_changed();
  return absent;
}

}  // namespace podium
