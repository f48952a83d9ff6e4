// What any layout saves any other loads, every weight and moment to the bit. Ranks are writers in one
// process: they meet in the folder only.
#include <gmock/gmock.h>

#include <map>

#include "tests/temp_folder.h"
#include "tests/worker/checkpoint/rank_tensors.h"
#include "worker/checkpoint/reader.h"
#include "worker/checkpoint/writer.h"
#include "worker/formats/safetensors.h"

namespace podium {
namespace {

const std::vector<TestLayout> kLayouts{{{1, 1, 1}},       {{2, 1, 1}}, {{4, 1, 1}},       {{1, 2, 1}},
                                       {{1, 4, 1}},       {{1, 1, 2}}, {{1, 1, 2}, true}, {{2, 2, 1}},
                                       {{2, 1, 2}, true}, {{1, 2, 2}}, {{1, 2, 2}, true}, {{2, 2, 2}},
                                       {{2, 2, 2}, true}, {{1, 1, 3}}, {{1, 1, 3}, true}};

CheckpointState state_of(const TestLayout& layout) {
  CheckpointState state;
  state.step = 7;
  state.layout = layout.layout;
  return state;
}

void save(const std::filesystem::path& folder, const TestLayout& layout) {
  std::deque<RankTensors> ranks;
  std::deque<CheckpointWriter> writers;
  for (int rank = 0; rank < layout.layout.world(); ++rank) {
    ranks.emplace_back(layout, rank).fill();
    writers.emplace_back(CheckpointWriter::Options{folder, "attempt", 1, rank});
    const CheckpointTensors tensors = ranks.back().tensors();
    writers.back().begin(state_of(layout), tensors,
                         owned_pieces(tensors, layout.layout, ranks.back().place()));
  }
  for (CheckpointWriter& writer : writers) writer.wait_for_parts(std::chrono::hours(1));
  writers.front().wait_until_whole(std::chrono::hours(1));
}

class CheckpointLayouts : public testing::TestWithParam<TestLayout> {};

TEST_P(CheckpointLayouts, AreReadByEveryOther) {
  const TempFolder folder;
  save(folder.path(), GetParam());
  const auto checkpoint = folder.path() / checkpoint_name(7);
  const CheckpointManifest manifest = read_manifest(checkpoint);
  EXPECT_EQ(manifest.files.size(), static_cast<std::size_t>(GetParam().layout.world()));
  for (const TestLayout& layout : kLayouts)
    for (int rank = 0; rank < layout.layout.world(); ++rank) {
      RankTensors loaded(layout, rank);
      EXPECT_GT(loaded.wrong_values(), 0);
      read_tensors(checkpoint, manifest, loaded.tensors());
      EXPECT_EQ(loaded.wrong_values(), 0) << layout.name() << " rank " << rank;
    }
}

// Nothing is stored twice: what the files hold is the whole model's size, three times four bytes an element.
TEST_P(CheckpointLayouts, HoldEveryElementOnce) {
  const TempFolder folder;
  save(folder.path(), GetParam());
  const auto checkpoint = folder.path() / checkpoint_name(7);
  std::int64_t bytes = 0;
  for (const auto& [name, part] : read_manifest(checkpoint).files) {
    const SafetensorsFile file(checkpoint / name);
    for (const auto& [tensor, entry] : file.tensors())
      bytes += static_cast<std::int64_t>(entry.end - entry.begin);
  }
  const std::int64_t elements = 48 * 6 + 4 * (37 + 40 * 9 + 40 + 9 * 40 + 9) + 3 * 5;
  EXPECT_EQ(bytes, 3 * 4 * elements);
}

INSTANTIATE_TEST_SUITE_P(Saved, CheckpointLayouts, testing::ValuesIn(kLayouts),
                         [](const auto& instance) { return instance.param.name(); });

TEST(CheckpointReader, AModelOfAnotherShapeIsRefused) {
  const TempFolder folder;
  save(folder.path(), kLayouts.front());
  const auto checkpoint = folder.path() / checkpoint_name(7);
  const CheckpointManifest manifest = read_manifest(checkpoint);
  const auto error_for = [&](const std::string& name, const Shape& shape) -> std::string {
    ParameterStore store;
    store.add(name, shape, Initializer::zeros, true);
    store.allocate();
    std::vector<float> moments(store.weights().size());
    try {
      read_tensors(checkpoint, manifest,
                   {store, {{"first_moment", moments}, {"second_moment", moments}}, {{0, store.end()}}});
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(error_for("head.weight", {3, 5}), "");
  EXPECT_THAT(error_for("head.weight", {5, 3}), testing::HasSubstr("head.weight is of shape [3, 5]"));
  EXPECT_THAT(error_for("tail.weight", {3, 5}), testing::HasSubstr("tail.weight"));
}

// Pieces of random slices and ranges, against a copy made element by element.
TEST(CheckpointPieces, CommonRunsAreWhatBothHold) {
  std::uint64_t state = 1;
  const auto draw = [&](std::int64_t below) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::int64_t>((state >> 33) % static_cast<std::uint64_t>(below));
  };
  for (int round = 0; round < 2000; ++round) {
    const std::vector<std::int64_t> full{1 + draw(5), 1 + draw(5), 1 + draw(5)};
    const auto random_piece = [&] {
      Piece piece{"p", whole_box(full), 0, 0};
      piece.box.axis = static_cast<int>(draw(4)) - 1;
      if (piece.box.axis >= 0) {
        piece.box.begin = draw(full[static_cast<std::size_t>(piece.box.axis)]);
        piece.box.extent = 1 + draw(full[static_cast<std::size_t>(piece.box.axis)] - piece.box.begin);
      }
      piece.first = draw(piece.box.size());
      piece.last = piece.first + draw(piece.box.size() - piece.first + 1);
      return piece;
    };
    // Position in the whole tensor of each element of a piece.
    const auto places = [&](const Piece& piece) {
      const std::vector<std::int64_t> shape = piece.box.shape();
      std::vector<std::int64_t> found;
      for (std::int64_t i = piece.first; i < piece.last; ++i) {
        std::int64_t index[3] = {i / (shape[1] * shape[2]), i / shape[2] % shape[1], i % shape[2]};
        if (piece.box.axis >= 0) index[piece.box.axis] += piece.box.begin;
        found.push_back((index[0] * full[1] + index[1]) * full[2] + index[2]);
      }
      return found;
    };
    const Piece from = random_piece(), to = random_piece();
    const std::vector<std::int64_t> from_places = places(from), to_places = places(to);
    std::vector<float> values(from_places.begin(), from_places.end()), copied(to_places.size(), -1.0F);
    copy_runs(common_runs(from, to), values, copied);
    for (std::size_t i = 0; i < to_places.size(); ++i) {
      const bool held = std::ranges::find(from_places, to_places[i]) != from_places.end();
      ASSERT_EQ(copied[i], held ? static_cast<float>(to_places[i]) : -1.0F);
    }
  }
}

}  // namespace
}  // namespace podium
