// bench_store [--curves FILE ...] [--large]: prints one JSON object a figure; bench/run makes the table. FILE
// is an events.jsonl of a training or an MLPerf result log.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <ctime>
#include <exception>

#include "bench/store/benchmarks.h"
#include "coordinator/store/chunks/codec.h"
#include "coordinator/store/chunks/roll_up.h"

namespace podium {
namespace {

using Points = std::vector<StoredPoint>;
using Pack = std::size_t (*)(const Points&);

// In chunks, with their roll-ups.
std::size_t chunk_bytes(const Points& points) {
  std::size_t bytes = 0;
  for (std::span<const StoredPoint> rest = points; !rest.empty();) {
    const auto chunk = rest.first(std::min(kPointsInChunk, rest.size()));
    bytes += encode_points(chunk).size() + encode_roll_ups(roll_ups(chunk, kPointsInBlock)).size() +
             encode_roll_ups(roll_ups(chunk, kPointsInSpan)).size();
    rest = rest.subspan(chunk.size());
  }
  return bytes;
}

// One chunk, without its roll-ups, which the others lack.
std::size_t packed_bytes(const Points& points) { return encode_points(points).size(); }

double bytes_a_point(const std::vector<Curve>& curves, Pack pack) {
  double bytes = 0, points = 0;
  for (const Curve& curve : curves) {
    for (std::size_t at = 0; at < curve.points.size(); at += kPointsInChunk) {
      const std::size_t end = std::min(at + kPointsInChunk, curve.points.size());
      bytes += static_cast<double>(pack({curve.points.begin() + static_cast<std::ptrdiff_t>(at),
                                         curve.points.begin() + static_cast<std::ptrdiff_t>(end)}));
    }
    points += static_cast<double>(curve.points.size());
  }
  return bytes / points;
}

Figure bytes_figure(const std::string& name, double bytes) {
  return {.name = name, .value = bytes, .unit = "bytes/point", .higher_is_better = false, .goal = 7};
}

// Both ways, in nanoseconds of processor time a point, which others on the machine hardly change.
std::pair<double, double> codec_speed(const std::vector<Curve>& curves) {
  constexpr int kRounds = 50;
  double points = 0;
  std::clock_t packing = 0, reading = 0;
  for (const Curve& curve : curves) {
    if (curve.points.size() < kPointsInChunk) continue;
    const auto chunk = std::span(curve.points).first(kPointsInChunk);
    const std::clock_t start = std::clock();
    std::string bytes;
    for (int round = 0; round < kRounds; ++round) bytes = encode_points(chunk);
    const std::clock_t middle = std::clock();
    for (int round = 0; round < kRounds; ++round)
      points += static_cast<double>(decode_points(bytes).value().size());
    packing += middle - start;
    reading += std::clock() - middle;
  }
  if (points == 0) return {0, 0};
  const double nanoseconds = 1e9 / CLOCKS_PER_SEC / points;
  return {static_cast<double>(packing) * nanoseconds, static_cast<double>(reading) * nanoseconds};
}

}  // namespace

std::vector<Figure> measure_bytes(const std::string& name, const std::vector<Curve>& curves) {
  std::vector<Figure> figures;
  for (const Curve& curve : curves)
    figures.push_back(bytes_figure(name + ": " + curve.key, bytes_a_point({curve}, chunk_bytes)));
  Figure all = bytes_figure(name + ": all, in chunks", bytes_a_point(curves, chunk_bytes));
  figures.push_back(all);
  all = bytes_figure(name + ": all, without roll-ups", bytes_a_point(curves, packed_bytes));
  const auto beside = [&](const std::string& peer, Pack pack) {
    Figure one = all;
    one.peer = peer;
    one.peer_value = bytes_a_point(curves, pack);
    figures.push_back(one);
  };
  beside("Gorilla", gorilla_bytes);
  beside("shuffled, zstd", shuffled_bytes);
  beside("rows", row_bytes);
  if (const auto [pack, read] = codec_speed(curves); pack > 0) {
    figures.push_back(
        {.name = name + ": packing", .value = pack, .unit = "ns/point", .higher_is_better = false});
    figures.push_back(
        {.name = name + ": reading", .value = read, .unit = "ns/point", .higher_is_better = false});
  }
  return figures;
}

}  // namespace podium

int main(int argc, char** argv) try {
  CLI::App app("The store's chunks, beside other ways to keep points");
  std::vector<std::string> files;
  bool only_curves = false, large = false;
  app.add_option("--curves", files, "events.jsonl of a training, or an MLPerf result log");
  app.add_flag("--only-curves", only_curves, "Leave out writing, and the parts of a long curve");
  app.add_flag("--large", large,
               "Only a database of 200,000,000 points: some minutes, and 4 GB of disk in /tmp");
  CLI11_PARSE(app, argc, argv);
  if (large) {
    for (const podium::Figure& figure : podium::measure_large()) print(figure);
    return 0;
  }
  for (const std::string& file : files)
    for (const podium::Figure& figure :
         podium::measure_bytes(std::filesystem::path(file).filename().string(), podium::read_curves(file)))
      print(figure);
  if (only_curves) return 0;
  for (const podium::Figure& figure : podium::measure_writing()) print(figure);
  for (const podium::Figure& figure : podium::measure_windows()) print(figure);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "bench_store: %s\n", error.what());
  return 1;
}
