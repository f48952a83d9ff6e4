#include "worker/checkpoint/search.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <new>
#include <system_error>
#include <thread>

#include "worker/data/failure.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kUntilShown{5};  // to every rank, what rank 0 has listed

// Of a file that is not there or is no file: what is wrong with the checkpoint, not with reading.
bool is_missing(const std::error_code& error) {
  return error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory ||
         error == std::errc::is_a_directory;
}

std::string own_names(const fs::path& folder) {
  try {
    if (!fs::exists(folder)) return "";  // that of another job may never have been made
    return fmt::format("{}", fmt::join(checkpoints_in(folder), "\n"));
  } catch (const std::system_error& error) {
    throw Failure(WorkerExit::disk_full,
                  "cannot read the checkpoint folder " + folder.string() + ": " + error.what());
  }
}

// Waits for a file that another machine has made; opening its folders has a client of NFS ask for them anew.
void await(const fs::path& file, std::chrono::steady_clock::time_point until) {
  std::error_code ignored;  // reading the file tells it
  while (fs::status(file, ignored).type() == fs::file_type::not_found &&
         std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const fs::path checkpoint = file.parent_path();
    for (const auto& folder : {checkpoint.parent_path(), checkpoint})
      const fs::directory_iterator opened(folder, ignored);
  }
}

}  // namespace

std::string shared_text(Communicator& world, int root, std::string text) {
  std::uint64_t size = text.size();
  world.broadcast(std::as_writable_bytes(std::span(&size, 1)), root);
  text.resize(size);
  world.broadcast(std::as_writable_bytes(std::span(text)), root);
  return text;
}

std::vector<std::string> texts_of_all(Communicator& world, const std::string& text) {
  const auto ranks = static_cast<std::size_t>(world.size());
  const std::uint64_t own = text.size();
  std::vector<std::uint64_t> sizes(ranks);
  world.all_gather(std::as_bytes(std::span(&own, 1)), std::as_writable_bytes(std::span(sizes))).get();
  const std::size_t longest = std::ranges::max(sizes);
  if (longest == 0) return std::vector<std::string>(ranks);
  std::string padded = text;
  padded.resize(longest);
  std::string all(longest * ranks, '\0');
  world.all_gather(std::as_bytes(std::span(padded)), std::as_writable_bytes(std::span(all))).get();
  std::vector<std::string> texts;
  for (std::size_t rank = 0; rank < ranks; ++rank) texts.push_back(all.substr(rank * longest, sizes[rank]));
  return texts;
}

void refuse_unreadable(const fs::path& checkpoint, const std::string& why) {
  throw Failure(
      WorkerExit::disk_full,
      fmt::format("cannot read the checkpoint {} at present: {}. That does not make it a broken one; "
                  "where it stays so, mend the disk, or move the checkpoint away to go on from an "
                  "older one",
                  checkpoint.string(), why));
}

std::vector<std::string> CheckpointSearch::names_in(const fs::path& folder) const {
  const std::string text = shared_text(world_, 0, world_.rank() == 0 ? own_names(folder) : "");
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    names.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

std::optional<WholeCheckpoint> CheckpointSearch::newest_in(const fs::path& folder,
                                                           std::vector<std::string>& problems) const {
  for (const std::string& name : names_in(folder))
    if (auto found = look_at(folder / name, problems)) return found;
  return std::nullopt;
}

std::optional<WholeCheckpoint> CheckpointSearch::look_at(const fs::path& checkpoint,
                                                         std::vector<std::string>& problems) const {
  WholeCheckpoint whole{checkpoint, {}};
  const auto [found, why] = worst_of_all_ranks(finding_of(checkpoint, whole.manifest));
  if (found == Found::unreadable) refuse_unreadable(checkpoint, why);
  if (found == Found::of_other_version)
    throw Failure(WorkerExit::bad_spec, "cannot continue from " + checkpoint.string() + ": " + why);
  if (found == Found::whole) return whole;
  problems.push_back("the checkpoint " + checkpoint.string() + " is not whole and was passed over: " + why);
  return std::nullopt;
}

// What keeps this process from reading at all says nothing about the checkpoint.
CheckpointSearch::Finding CheckpointSearch::finding_of(const fs::path& checkpoint,
                                                       CheckpointManifest& manifest) const {
  try {
    manifest = verify(checkpoint);
    return {};
  } catch (const UnknownCheckpointVersion& error) {
    return {Found::of_other_version, error.what()};
  } catch (const std::system_error& error) {
    return {is_missing(error.code()) ? Found::broken : Found::unreadable, error.what()};
  } catch (const std::bad_alloc&) {
    return {Found::unreadable, "this process has no memory left"};
  } catch (const std::exception& error) {
    return {Found::broken, error.what()};
  }
}

// The same on all ranks.
CheckpointSearch::Finding CheckpointSearch::worst_of_all_ranks(const Finding& own) const {
  constexpr std::size_t kLength = 4096;
  std::array<char, kLength> mine{};
  mine[0] = static_cast<char>(own.found);
  std::copy_n(own.why.begin(), std::min(own.why.size(), kLength - 2), mine.begin() + 1);
  std::vector<char> all(kLength * static_cast<std::size_t>(world_.size()));
  world_.all_gather(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all))).get();
  Finding worst;
  for (std::size_t i = 0; i < all.size(); i += kLength)
    if (static_cast<Found>(all[i]) > worst.found) worst = {static_cast<Found>(all[i]), &all[i + 1]};
  return worst;
}

// Ranks share the work: together they look at every file. What rank 0 has listed may be shown to others late.
CheckpointManifest CheckpointSearch::verify(const fs::path& checkpoint) const {
  const auto until =
      std::chrono::steady_clock::now() + (world_.rank() == 0 ? std::chrono::seconds(0) : kUntilShown);
  await(checkpoint / kManifestName, until);
  CheckpointManifest manifest = read_manifest(checkpoint);
  int file = 0;
  for (const auto& [part, stored] : manifest.files) {
    if (file++ % world_.size() != world_.rank()) continue;
    await(checkpoint / part, until);
    verify_file(checkpoint, part, stored.digest);
  }
  return manifest;
}

}  // namespace podium
