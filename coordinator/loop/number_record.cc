#include "coordinator/loop/number_record.h"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <system_error>
#include <utility>

namespace podium {
namespace {

constexpr std::size_t kDigits = 20;  // always as many, so that a record is overwritten whole

// "<cluster> <number>\n"
JobId number_in(const std::string& record, const std::string& cluster) {
  const std::string before = cluster + " ";
  if (!record.starts_with(before)) return {0};
  JobId number{0};
  const char* const begin = record.data() + before.size();
  const auto [end, error] = std::from_chars(begin, record.data() + record.size(), number.value);
  const bool whole = error == std::errc() && end == begin + kDigits && *end == '\n';
  return whole ? number : JobId{0};
}

}  // namespace

NumberRecord::NumberRecord(std::filesystem::path home, std::string cluster)
    : path_(std::move(home) / "highest-job"), cluster_(std::move(cluster)) {
  try {
    if (std::filesystem::is_regular_file(path_)) highest_ = number_in(read_file(path_), cluster_);
  } catch (const std::system_error& error) {
    spdlog::warn("the highest number that a job was given is not known beside the database: {}",
                 error.what());
  }
}

void NumberRecord::keep(JobId given) {
  if (given <= highest_) return;
  const std::string digits = std::to_string(given.value);
  const std::string record = cluster_ + " " + std::string(kDigits - digits.size(), '0') + digits + "\n";
  try {
    if (!file_) file_ = open_file(path_, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW);
    if (::pwrite(file_.get(), record.data(), record.size(), 0) != std::ssize(record))
      throw std::system_error(errno, std::generic_category(), "cannot write " + path_.string());
    highest_ = given;
    failing_ = false;
  } catch (const std::system_error& error) {
    if (!std::exchange(failing_, true))
      spdlog::warn("a copy of the database that is restored may give number {} again: {}", given.value,
                   error.what());
  }
}

}  // namespace podium
