#include "agent/staging/download.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <random>
#include <system_error>
#include <utility>

#include "common/base/file.h"
#include "common/net/http_client.h"
#include "common/net/sha256.h"

namespace podium {
namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;

constexpr std::int64_t kRoomStep = 64 << 20;  // for a length that the server does not tell
constexpr int kMostMixed = 2;
constexpr std::size_t kHashedAtOnce = 1 << 20;

[[noreturn]] void download_failure(const char* what, const fs::path& path) {
  throw std::system_error(errno, std::generic_category(), std::string(what) + " " + path.string());
}

// The file as far as it has come, and the hash of that.
class PartialFile {
 public:
  PartialFile(const fs::path& path, StagingProgress& progress, const std::stop_token& stop)
      : path_(path), fd_(open_file(path, O_RDWR | O_CREAT, 0600)) {
    std::string piece(kHashedAtOnce, '\0');
    while (true) {
      note_step(progress, stop);
      const ssize_t count = ::read(fd_.get(), piece.data(), piece.size());
      if (count < 0) download_failure("cannot read", path_);
      if (count == 0) break;
      hash_.update({piece.data(), static_cast<std::size_t>(count)});
      bytes_ += count;
    }
  }

  std::int64_t bytes() const { return bytes_; }

  void append(std::string_view bytes) {
    write_all(fd_.get(), bytes, path_);
    hash_.update(bytes);
    bytes_ += std::ssize(bytes);
  }

  void begin_anew() {
    if (::ftruncate(fd_.get(), 0) != 0 || ::lseek(fd_.get(), 0, SEEK_SET) != 0)
      download_failure("cannot write", path_);
    hash_.hex();
    bytes_ = 0;
  }

  std::string hash() { return hash_.hex(); }  // of all of it; nothing is appended after it

  void finish() {
    if (::fchmod(fd_.get(), 0444) != 0 || ::fsync(fd_.get()) != 0) download_failure("cannot write", path_);
  }

 private:
  const fs::path path_;
  Fd fd_;
  Sha256 hash_;
  std::int64_t bytes_ = 0;
};

struct Answer {
  int status = 0;
  std::string location;
};

// The beginning of "bytes 100-199/200"; nothing where there is none.
std::optional<std::int64_t> range_begin(const std::string& content_range) {
  constexpr std::string_view kUnit = "bytes ";
  if (!content_range.starts_with(kUnit)) return std::nullopt;
  const std::string number = content_range.substr(kUnit.size(), content_range.find('-') - kUnit.size());
  if (number.empty() || number.size() > 18 || number.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  return std::stoll(number);
}

// Queries of redirects may hold signatures, which are nobody's to read.
std::string without_queries(std::string text) {
  for (std::size_t at = 0; (at = text.find('?', at)) != std::string::npos; ++at)
    text.replace(at + 1, std::min(text.find_first_of(" ,;", at), text.size()) - at - 1, "…");
  return text;
}

std::optional<std::int64_t> length_of(const HttpResponse& head) {
  const std::string text = head.headers.get("Content-Length");
  if (text.empty() || text.size() > 18 || text.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  return std::stoll(text);
}

class Download {
 public:
  Download(const std::string& url, const std::string& sha256, const fs::path& path,
           const std::function<void(std::int64_t)>& room, const DownloadRules& rules,
           StagingProgress& progress, const std::stop_token& stop)
      : url_(url),
        sha256_(sha256),
        room_(room),
        rules_(rules),
        progress_(progress),
        stop_(stop),
        file_(path, progress, stop) {}

  void run() {
    for (int parts = 0;; ++parts) {
      in_parts_ = false;
      fetch_all();
      const std::string found = file_.hash();
      if (found == sha256_) return file_.finish();
      file_.begin_anew();
      if (!in_parts_ || parts == kMostMixed)  // else parts of two files may have come together
        throw StagingFailure(ExitCause::refused, url_ + " has the sha256 " + found + ", and the spec says " +
                                                     sha256_ + ": mend the one that is wrong");
    }
  }

 private:
  void fetch_all() {
    int failures = 0;
    while (true) {
      note_step(progress_, stop_);
      const std::int64_t before = file_.bytes();
      std::string failure;
      try {
        if (fetch_rest()) return;
        failure = "the server answered " + std::to_string(last_status_);
      } catch (const NetError& error) {
        if (stop_.stop_requested()) throw StagingStopped();
        failure = without_queries(error.what());
      }
      failures = file_.bytes() > before ? 1 : failures + 1;
      if (failures >= rules_.tries)
        throw StagingFailure(ExitCause::not_started, "it cannot fetch " + url_ + ": " + failure);
      pause(retry_delay(rules_.pause, failures, jitter_(random_)));
    }
  }

  void pause(std::chrono::milliseconds duration) {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any stopped;
    stopped.wait_for(lock, stop_, duration, [] { return false; });
  }

  // False where trying again may help.
  bool fetch_rest() {
    std::string url = url_;
    for (int redirects = 0; redirects <= rules_.redirects; ++redirects) {
      const Answer answer = ask(url);
      last_status_ = answer.status;
      if (answer.status == 200 || answer.status == 206) return true;
      const bool is_redirect = answer.status == 301 || answer.status == 302 || answer.status == 303 ||
                               answer.status == 307 || answer.status == 308;
      if (is_redirect && !answer.location.empty()) {
        url = redirected(url, answer.location);
        continue;
      }
      if (answer.status == 416) {  // what is here is not the beginning of it, or all of it
        if (file_.bytes() == 0) throw refused_by(url, answer.status);
        const bool is_all = answer.location == "bytes */" + std::to_string(file_.bytes());
        if (!is_all) file_.begin_anew();
        return is_all;
      }
      if (answer.status >= 500 || answer.status == 408 || answer.status == 429) return false;
      throw refused_by(url, answer.status);
    }
    throw StagingFailure(ExitCause::refused,
                         url_ + " is redirected more than " + std::to_string(rules_.redirects) + " times");
  }

  static StagingFailure refused_by(const std::string& url, int status) {
    return {ExitCause::refused, "the server answered " + std::to_string(status) + " to " +
                                    without_queries(url) + "; see that it gives the file to this node"};
  }

  // One request, and what came of it written.
  Answer ask(const std::string& url) {
    const Result<Url> server = parse_url(url);
    if (!server) throw StagingFailure(ExitCause::refused, url + ": " + describe(server.errors()));
    HttpRequest request;
    request.target = server->target;
    const std::int64_t from = file_.bytes();
    in_parts_ |= from > 0;
    if (from > 0) request.headers.set("Range", "bytes=" + std::to_string(from) + "-");
    std::exception_ptr failed;
    const auto guarded = [&](const auto& work) {  // an exception must not leave through the client
      try {
        work();
      } catch (const std::exception&) {
        failed = std::current_exception();
      }
      return !failed;
    };
    const auto on_head = [&](const HttpResponse& head) { guarded([&] { take_head(head, from); }); };
    const auto on_data = [&](std::string_view bytes) { return !failed && guarded([&] { take(bytes); }); };
    asio::io_context io(1);
    HttpClient client(io.get_executor(), *server, {rules_.ca_file, std::size_t{1} << 20});
    std::exception_ptr thrown;
    HttpResponse response;
    asio::co_spawn(io, client.stream(std::move(request), rules_.idle_timeout, on_data, on_head),
                   [&](std::exception_ptr error, HttpResponse answer) {
                     thrown = error;
                     response = std::move(answer);
                   });
    const std::stop_callback cancel(stop_, [&] { asio::post(io, [&client] { client.cancel(); }); });
    io.run();
    if (failed) std::rethrow_exception(failed);
    if (thrown) std::rethrow_exception(thrown);
    return {response.status, response.headers.get(response.status == 416 ? "Content-Range" : "Location")};
  }

  void take_head(const HttpResponse& head, std::int64_t from) {
    const bool goes_on = head.status == 206 && range_begin(head.headers.get("Content-Range")) == from;
    if (head.status == 206 && !goes_on)
      throw StagingFailure(ExitCause::refused, url_ + " gives another part of the file than was asked for");
    if (head.status == 200) file_.begin_anew();
    known_ = 0;
    const auto length = length_of(head);
    if (length) claim(file_.bytes() + *length);
    // Where nothing tells its length, an answer that is cut off looks like a whole one.
    in_parts_ |= !length && !head.headers.find("Transfer-Encoding");
  }

  void take(std::string_view bytes) {
    note_step(progress_, stop_);
    const std::int64_t after = file_.bytes() + std::ssize(bytes);
    if (after > known_) claim(after + kRoomStep);
    file_.append(bytes);
    progress_.bytes += std::ssize(bytes);
  }

  void claim(std::int64_t bytes) {
    room_(bytes);
    known_ = bytes;
  }

  const std::string& url_;
  const std::string& sha256_;
  const std::function<void(std::int64_t)>& room_;
  const DownloadRules& rules_;
  StagingProgress& progress_;
  const std::stop_token& stop_;
  PartialFile file_;
  std::int64_t known_ = 0;  // bytes that there is room for
  int last_status_ = 0;
  bool in_parts_ = false;  // not all of the file came in one answer
  std::mt19937 random_{std::random_device{}()};
  std::uniform_real_distribution<double> jitter_{0.0, 1.0};
};

}  // namespace

std::string redirected(const std::string& from, const std::string& location) {
  std::string to = location.substr(0, location.find('#'));
  const std::size_t scheme_end = from.find("://");
  const std::size_t path_begin = std::min(from.find_first_of("/?", scheme_end + 3), from.size());
  const bool is_absolute = to.starts_with("http://") || to.starts_with("https://");
  if (to.starts_with("//"))
    to = from.substr(0, scheme_end + 1) + to;
  else if (to.starts_with('/'))
    to = from.substr(0, path_begin) + to;
  else if (!is_absolute && to.find("://") != std::string::npos)
    throw StagingFailure(ExitCause::refused,
                         without_queries(from + " is redirected to " + to + ", which is not HTTP"));
  else if (!is_absolute) {
    const std::string path = from.substr(path_begin, from.find('?', path_begin) - path_begin);
    const std::string folder = path.substr(0, path.rfind('/') + 1);
    to = from.substr(0, path_begin) + (folder.empty() ? "/" : folder) + to;
  }
  if (from.starts_with("https://") && to.starts_with("http://"))
    throw StagingFailure(ExitCause::refused,
                         without_queries(from + " is redirected to " + to + ", which is not encrypted"));
  return to;
}

void download(const std::string& url, const std::string& sha256, const fs::path& path,
              const std::function<void(std::int64_t)>& room, const DownloadRules& rules,
              StagingProgress& progress, const std::stop_token& stop) {
  Download(url, sha256, path, room, rules, progress, stop).run();
}

}  // namespace podium
