#include "agent/staging/stage.h"

#include <cerrno>
#include <system_error>
#include <utility>
#include <variant>

#include "agent/process/home_room.h"
#include "agent/staging/source_tree.h"
#include "common/model/data_path.h"
#include "common/net/sha256.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

constexpr char kChanges[] = "it changes while it is copied; write it under another name";
constexpr int kCopies = 3;  // of a source that changes meanwhile

[[noreturn]] void refuse_input(const std::string& why) { throw StagingFailure(ExitCause::refused, why); }

bool is_address(const std::string& from) {
  return from.starts_with("http://") || from.starts_with("https://");
}

class Staging {
 public:
  Staging(const InputSpec& input, const fs::path& data_folder, const std::string& holder, InputStore& store,
          const DownloadRules& rules, StagingProgress& progress, const std::stop_token& stop)
      : input_(input),
        data_folder_(data_folder),
        holder_(holder),
        store_(store),
        rules_(rules),
        progress_(progress),
        stop_(stop) {}

  StagedInput run() {
    if (!input_.sha256.empty() && !is_sha256(input_.sha256))
      refuse_input("\"" + input_.sha256 + "\" is no sha256");
    if (is_address(input_.from)) return by_hash([this](Incoming& incoming) { return fetch(incoming); });
    if (leads_out_of_folder(input_.from)) refuse_input("its path leads out of the data folder");
    source_ = data_folder_ / input_.from;  // an absolute path stays what it is
    if (!input_.sha256.empty()) return by_hash([this](Incoming& incoming) { return copy_checked(incoming); });
    return by_state();
  }

 private:
  template <class Bring>
  StagedInput by_hash(const Bring& bring) {
    if (input_.sha256.empty()) refuse_input("it needs sha256: what an address answers may change");
    return staged("sha256-" + input_.sha256, bring);
  }

  // The name of what its path held at this time, by names, sizes and times of change.
  StagedInput by_state() {
    for (int copy = 0; copy < kCopies; ++copy) {
      const std::vector<SourceEntry> content = scan_source(source_, progress_, stop_);
      const std::string digest = digest_of(content, source_.string());
      bool changed = false;
      const auto bring = [&](Incoming& incoming) {
        copy_all(incoming, content);
        changed = digest_of(scan_source(source_, progress_, stop_), source_.string()) != digest;
        if (changed) incoming.discard();
        return !changed;
      };
      if (auto found = staged("path-" + digest, bring); !changed) return found;
    }
    throw StagingFailure(ExitCause::cannot_run, kChanges);
  }

  // `bring` returns false, or throws, where nothing came of it.
  template <class Bring>
  StagedInput staged(const std::string& key, const Bring& bring) {
    auto taken = store_.take(key, holder_, progress_, stop_);
    if (const auto* here = std::get_if<fs::path>(&taken)) return {input_.to, key, *here};
    Incoming& incoming = std::get<Incoming>(taken);
    try {
      if (!bring(incoming)) return {};
    } catch (const std::system_error& error) {
      if (is_no_room(error)) incoming.discard();  // it would keep the disk full
      throw;
    }
    fs::path data = incoming.place(input_.from, progress_, stop_);
    ++progress_.staged;
    return {input_.to, key, std::move(data)};
  }

  bool fetch(Incoming& incoming) {
    const auto room = [&incoming](std::int64_t bytes) { incoming.claim(bytes); };
    download(input_.from, input_.sha256, incoming.data(), room, rules_, progress_, stop_);
    return true;
  }

  bool copy_checked(Incoming& incoming) {
    const std::vector<SourceEntry> content = scan_source(source_, progress_, stop_);
    if (content.front().is_folder) refuse_input("sha256 is a file's, and this is a folder; remove sha256");
    const std::string found = copy_all(incoming, content);
    if (found == input_.sha256) return true;
    incoming.discard();
    if (digest_of(scan_source(source_, progress_, stop_), "") != digest_of(content, ""))
      throw StagingFailure(ExitCause::cannot_run, kChanges);
    refuse_input("it has the sha256 " + found + ", and the spec says " + input_.sha256 +
                 ": mend the one that is wrong");
  }

  std::string copy_all(Incoming& incoming, const std::vector<SourceEntry>& content) {
    incoming.discard();
    incoming.claim(bytes_of(content));
    return copy_source(source_, content, incoming.data(), progress_, stop_);
  }

  const InputSpec& input_;
  const fs::path& data_folder_;
  const std::string& holder_;
  InputStore& store_;
  const DownloadRules& rules_;
  StagingProgress& progress_;
  const std::stop_token& stop_;
  fs::path source_;
};

}  // namespace

void check_names(const std::vector<InputSpec>& inputs) {
  std::vector<std::string> names;
  for (const InputSpec& input : inputs) {
    const std::string name = fs::path(input.to).lexically_normal().string();
    if (input.to.empty() || name == "." || name.starts_with('/') || leads_out_of_folder(name) ||
        input.to.find('\0') != std::string::npos)
      refuse_input("the input's name \"" + input.to + "\" is no path below PODIUM_INPUTS");
    names.push_back(name.ends_with('/') ? name : name + "/");
  }
  for (std::size_t i = 0; i < names.size(); ++i)
    for (std::size_t k = 0; k < names.size(); ++k)
      if (i != k && names[i].starts_with(names[k]))
        refuse_input("the inputs \"" + inputs[k].to + "\" and \"" + inputs[i].to +
                     "\" lie in one another; give them names apart");
}

namespace {

std::string named(const InputSpec& input) { return "the input " + input.to + " (" + input.from + "): "; }

}  // namespace

std::vector<StagedInput> stage_inputs(const std::vector<InputSpec>& inputs, const fs::path& data_folder,
                                      const std::string& holder, InputStore& store,
                                      const DownloadRules& rules, StagingProgress& progress,
                                      const std::stop_token& stop) {
  check_names(inputs);
  std::vector<StagedInput> staged;
  for (const InputSpec& input : inputs) {
    while (staged.empty() || staged.back().to != input.to) {
      try {
        staged.push_back(Staging(input, data_folder, holder, store, rules, progress, stop).run());
      } catch (const StagingFailure& failure) {
        throw StagingFailure(failure.cause(), named(input) + failure.what());
      } catch (const std::system_error& error) {
        if (error.code() == std::errc::permission_denied ||
            error.code() == std::errc::operation_not_permitted)
          throw StagingFailure(ExitCause::cannot_run, named(input) + error.what());
        if (!is_no_room(error) || !store.drop_one()) throw;
      }
    }
  }
  return staged;
}

}  // namespace podium
