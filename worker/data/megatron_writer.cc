#include "worker/data/megatron_writer.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "common/base/check.h"
#include "worker/data/failure.h"
#include "worker/data/megatron_format.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kIndexTogether = std::size_t{1} << 17;  // numbers

fs::path with_ending(const fs::path& name, const char* ending) { return name.string() + ending; }
fs::path tokens_part(const fs::path& name) { return with_ending(name, ".bin.part"); }
fs::path lengths_part(const fs::path& name) { return with_ending(name, ".lengths.part"); }
fs::path documents_part(const fs::path& name) { return with_ending(name, ".documents.part"); }
fs::path index_part(const fs::path& name) { return with_ending(name, ".idx.part"); }

[[noreturn]] void fail(const char* what, const fs::path& path) {
  throw std::system_error(errno, std::generic_category(), std::string(what) + " " + path.string());
}

void sync_file(const Fd& file, const fs::path& path) {
  if (::fdatasync(file.get()) != 0) fail("cannot sync", path);
}

void rename_file(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) fail("cannot rename into place", to);
}

std::string_view bytes_of(auto numbers) {
  const auto bytes = std::as_bytes(numbers);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Opens `path` to write behind its first `bytes`, which must be there, and drops the rest.
Fd open_at(const fs::path& path, std::int64_t bytes) {
  Fd file = open_file(path, O_RDWR | O_CREAT);
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0)
    throw Failure(WorkerExit::address_in_use, "another process writes " + path.string());
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) fail("cannot look at", path);
  if (info.st_size < bytes)
    throw Failure(WorkerExit::bad_data,
                  path.string() + " lacks what was written to it; begin anew with --restart");
  if (::ftruncate(file.get(), bytes) != 0 || ::lseek(file.get(), bytes, SEEK_SET) < 0)
    fail("cannot write", path);
  return file;
}

// Appends numbers to the index, many at a time.
template <class T>
class NumberWriter {
 public:
  NumberWriter(const Fd& file, const fs::path& path) : file_(file), path_(path) {}

  void add(T number) {
    numbers_.push_back(number);
    if (numbers_.size() == kIndexTogether) flush();
  }
  void flush() {
    write_all(file_.get(), bytes_of(std::span(std::as_const(numbers_))), path_);
    numbers_.clear();
  }

 private:
  const Fd& file_;
  const fs::path& path_;
  std::vector<T> numbers_;
};

// Calls `sink` with each of the `count` numbers in the file.
template <class T>
void for_each_number(const Fd& file, const fs::path& path, std::int64_t count, const auto& sink) {
  std::vector<T> numbers(kIndexTogether);
  for (std::int64_t begin = 0; begin < count;) {
    const auto wanted = std::min<std::int64_t>(count - begin, std::ssize(numbers));
    const ssize_t got = ::pread(file.get(), numbers.data(), static_cast<std::size_t>(wanted) * sizeof(T),
                                begin * static_cast<std::int64_t>(sizeof(T)));
    if (got < 0 && errno == EINTR) continue;
    if (got < static_cast<ssize_t>(sizeof(T))) fail("cannot read", path);
    const auto whole = static_cast<std::int64_t>(got) / static_cast<std::int64_t>(sizeof(T));
    for (std::int64_t i = 0; i < whole; ++i) sink(numbers[static_cast<std::size_t>(i)]);
    begin += whole;
  }
}

}  // namespace

MegatronTokenType megatron_token_type(std::int32_t vocabulary_size) {
  constexpr std::int32_t kFewerInTwoBytes = 65'500;
  return vocabulary_size < kFewerInTwoBytes ? MegatronTokenType{8, 2} : MegatronTokenType{4, 4};
}

MegatronWriter::MegatronWriter(const fs::path& name, MegatronTokenType type, const MegatronState& state,
                               bool complete)
    : name_(name), type_(type), state_(state), has_final_tokens_(complete && !fs::exists(tokens_part(name))) {
  tokens_ = open_at(has_final_tokens_ ? with_ending(name, ".bin") : tokens_part(name), state.token_bytes);
  lengths_ = open_at(lengths_part(name), state.sequences * 4);
  documents_ = open_at(documents_part(name), state.documents * 8);
}

void MegatronWriter::append(std::span<const std::byte> tokens, std::span<const std::int32_t> lengths,
                            std::span<const std::int64_t> document_ends) {
  PODIUM_CHECK(!has_final_tokens_, "nothing comes after the end");
  std::vector<std::int64_t> ends(document_ends.begin(), document_ends.end());
  for (std::int64_t& end : ends) end += state_.sequences;
  write_all(tokens_.get(), bytes_of(tokens), tokens_part(name_));
  write_all(lengths_.get(), bytes_of(lengths), lengths_part(name_));
  write_all(documents_.get(), bytes_of(std::span(std::as_const(ends))), documents_part(name_));
  state_.token_bytes += std::ssize(tokens);
  state_.sequences += std::ssize(lengths);
  state_.documents += std::ssize(ends);
}

void MegatronWriter::sync() {
  sync_file(tokens_, tokens_part(name_));
  sync_file(lengths_, lengths_part(name_));
  sync_file(documents_, documents_part(name_));
}

void MegatronWriter::write_index() {
  const fs::path path = index_part(name_);
  const Fd file = open_file(path, O_WRONLY | O_CREAT | O_TRUNC);
  const MegatronHeader header{type_.code, static_cast<std::uint64_t>(state_.sequences),
                              static_cast<std::uint64_t>(state_.documents + 1)};
  write_all(file.get(), header.bytes(), path);
  {
    NumberWriter<std::int32_t> lengths(file, path);
    for_each_number<std::int32_t>(lengths_, path, state_.sequences,
                                  [&](auto length) { lengths.add(length); });
    lengths.flush();
  }
  NumberWriter<std::int64_t> numbers(file, path);
  std::int64_t offset = 0;
  for_each_number<std::int32_t>(lengths_, path, state_.sequences, [&](std::int32_t length) {
    numbers.add(offset);
    offset += length * type_.bytes;
  });
  PODIUM_CHECK(offset == state_.token_bytes, "the lengths are those of the tokens");
  numbers.add(0);
  for_each_number<std::int64_t>(documents_, path, state_.documents, [&](auto end) { numbers.add(end); });
  numbers.flush();
  sync_file(file, path);
}

void MegatronWriter::finish() {
  const fs::path index = with_ending(name_, ".idx");
  if (!has_final_tokens_ || !fs::exists(index)) {
    write_index();
    if (!has_final_tokens_) {
      fs::remove(index);  // of earlier data, which must not be read with these tokens
      rename_file(tokens_part(name_), with_ending(name_, ".bin"));
    }
    has_final_tokens_ = true;
    rename_file(index_part(name_), index);
  }
  sync_folder(name_.parent_path());
}

void MegatronWriter::remove_parts(const fs::path& name) {
  for (const fs::path& part : {tokens_part(name), lengths_part(name), documents_part(name), index_part(name)})
    fs::remove(part);
}

}  // namespace podium
