#include "worker/input/packed_text.h"

#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "worker/input/bad_data.h"
#include "worker/input/input_file.h"

namespace podium {
namespace {

constexpr std::size_t kPackedTogether = std::size_t{256} << 10;  // bytes
constexpr int kLargestWindow = 31;                               // as `zstd --long=31` writes at most
constexpr int kGzipAlone = 15 + 16;                              // zlib's word for gzip's header and window

}  // namespace

class PackedText::Unpacker {
 public:
  explicit Unpacker(const std::filesystem::path& path) : path_(path), file_(open_input(path).file) {}
  virtual ~Unpacker() = default;

  // Puts text behind what is `used` of `text` already.
  virtual void read(std::span<char> text, std::size_t& used) = 0;
  virtual bool seek(std::uint64_t) { return false; }
  std::uint64_t bytes_read() const { return bytes_read_; }

 protected:
  std::size_t read_file_bytes(std::span<char> bytes) {
    ssize_t got = 0;
    do {
      got = ::read(file_.get(), bytes.data(), bytes.size());
    } while (got < 0 && errno == EINTR);
    if (got < 0) fail();
    bytes_read_ += static_cast<std::uint64_t>(got);
    return static_cast<std::size_t>(got);
  }
  [[noreturn]] void refuse(const std::string& why) const { throw BadData(path_.string() + " " + why); }
  [[noreturn]] void fail() const {
    throw std::system_error(errno, std::generic_category(), "cannot read " + path_.string());
  }
  int file() const { return file_.get(); }
  void begin_at(std::uint64_t byte) { bytes_read_ = byte; }

 private:
  std::filesystem::path path_;
  Fd file_;
  std::uint64_t bytes_read_ = 0;
};

class PackedText::PlainText final : public Unpacker {
 public:
  using Unpacker::Unpacker;

  void read(std::span<char> text, std::size_t& used) override { used += read_file_bytes(text.subspan(used)); }
  bool seek(std::uint64_t byte) override {
    if (::lseek(file(), static_cast<off_t>(byte), SEEK_SET) < 0) fail();
    begin_at(byte);
    return true;
  }
};

// Members one after another, as `cat a.gz b.gz` makes them.
class PackedText::Gzip final : public Unpacker {
 public:
  explicit Gzip(const std::filesystem::path& path) : Unpacker(path), packed_(kPackedTogether) {
    if (::inflateInit2(&stream_, kGzipAlone) != Z_OK) throw std::bad_alloc();
  }
  ~Gzip() override { ::inflateEnd(&stream_); }

  void read(std::span<char> text, std::size_t& used) override {
    while (used < text.size() && fill()) {
      stream_.next_out = reinterpret_cast<Bytef*>(text.data() + used);
      stream_.avail_out = static_cast<uInt>(text.size() - used);
      const int status = inflate_some();
      used = text.size() - stream_.avail_out;
      if (status != Z_OK && status != Z_BUF_ERROR && status != Z_STREAM_END)
        refuse(std::string("is damaged: it is no gzip data: ") + (stream_.msg ? stream_.msg : "unknown"));
    }
  }

 private:
  // False at the end of the file.
  bool fill() {
    if (stream_.avail_in > 0) return true;
    stream_.next_in = reinterpret_cast<Bytef*>(packed_.data());
    stream_.avail_in = static_cast<uInt>(read_file_bytes(packed_));
    if (stream_.avail_in > 0) return true;
    if (inside_) refuse("is cut off: it ends in the middle of its gzip data");
    return false;
  }

  int inflate_some() {
    if (!inside_) ::inflateReset(&stream_);
    const int status = ::inflate(&stream_, Z_NO_FLUSH);
    inside_ = status != Z_STREAM_END;
    return status;
  }

  std::vector<char> packed_;
  z_stream stream_{};
  bool inside_ = false;  // a member
};

// Frames one after another.
class PackedText::Zstandard final : public Unpacker {
 public:
  explicit Zstandard(const std::filesystem::path& path)
      : Unpacker(path), packed_(kPackedTogether), stream_(ZSTD_createDStream()) {
    if (!stream_) throw std::bad_alloc();
    ZSTD_DCtx_setParameter(stream_.get(), ZSTD_d_windowLogMax, kLargestWindow);
  }

  void read(std::span<char> text, std::size_t& used) override {
    while (used < text.size()) {
      const std::size_t before = used;
      const std::size_t taken = in_.pos;
      // What is left in the stream comes first, which may need no further input.
      ZSTD_outBuffer out{text.data(), text.size(), used};
      const std::size_t left = ZSTD_decompressStream(stream_.get(), &out, &in_);
      used = out.pos;
      if (ZSTD_isError(left))
        refuse(std::string("is damaged: it is no zstd data: ") + ZSTD_getErrorName(left));
      if (left == 0 || in_.pos > taken) inside_ = left != 0;
      if (used == before && in_.pos == in_.size && !fill()) return;
    }
  }

 private:
  bool fill() {
    in_ = {packed_.data(), read_file_bytes(packed_), 0};
    if (in_.size == 0 && inside_) refuse("is cut off: it ends in the middle of its zstd data");
    return in_.size > 0;
  }

  struct Free {
    void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
  };
  std::vector<char> packed_;
  std::unique_ptr<ZSTD_DStream, Free> stream_;
  ZSTD_inBuffer in_{nullptr, 0, 0};
  bool inside_ = false;  // a frame
};

PackedText::PackedText(const std::filesystem::path& path) : path_(path) {
  if (path.extension() == ".gz")
    unpacker_ = std::make_unique<Gzip>(path);
  else if (path.extension() == ".zst")
    unpacker_ = std::make_unique<Zstandard>(path);
  else
    unpacker_ = std::make_unique<PlainText>(path);
}

PackedText::PackedText(PackedText&&) noexcept = default;
PackedText& PackedText::operator=(PackedText&&) noexcept = default;
PackedText::~PackedText() = default;

std::size_t PackedText::read(std::span<char> text) {
  if (damage_) std::rethrow_exception(damage_);
  std::size_t used = 0;
  try {
    unpacker_->read(text, used);
  } catch (const BadData&) {
    damage_ = std::current_exception();
    if (used == 0) throw;
  }
  return used;
}

bool PackedText::skip_to(std::uint64_t begin, const std::atomic<bool>& stop) {
  if (unpacker_->seek(begin)) return true;
  std::vector<char> passed(kPackedTogether);
  while (begin > 0) {
    if (stop) return false;
    const std::size_t got = read(
        std::span(passed).first(static_cast<std::size_t>(std::min<std::uint64_t>(begin, passed.size()))));
    if (got == 0) throw BadData(path_.string() + " is shorter than it was");
    begin -= got;
  }
  return true;
}

std::uint64_t PackedText::packed_bytes_read() const { return unpacker_->bytes_read(); }

}  // namespace podium
