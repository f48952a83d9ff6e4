#include "worker/prepare/prepare.h"

#include <optional>
#include <utility>

#include "common/base/file.h"
#include "common/base/logging.h"
#include "worker/data/failure.h"
#include "worker/input/bad_data.h"
#include "worker/prepare/ordered_pipeline.h"

namespace podium {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kJournalVersion = 2;
constexpr std::size_t kInFlightOfAThread = std::size_t{4} << 20;  // bytes of text

struct Journal {
  std::string identity;
  TextPosition position;
  PrepareReport report;
  bool complete = false;  // all text is in it
  bool replaces = false;  // what an earlier run has finished, which stays until then
};

fs::path with_suffix(const fs::path& name, const char* suffix) { return name.string() + suffix; }
fs::path journal_path(const fs::path& name) { return with_suffix(name, ".prepare.json"); }
fs::path report_path(const fs::path& name) { return with_suffix(name, ".json"); }

std::string identity_of_run(const PrepareOptions& options) {
  const EncodingRules& rules = options.rules;
  const std::string part = options.list_identity.empty()
                               ? ""
                               : " " + std::to_string(options.part.number) + "/" +
                                     std::to_string(options.part.count) + " of " + options.list_identity;
  return identity_of(options.files) + " " + options.tokenizer_identity + " " +
         std::to_string(static_cast<int>(rules.documents)) + " " +
         std::to_string(static_cast<int>(rules.sequences)) + " " + std::to_string(rules.end_of_document) +
         part + " " + rules.field;
}

// A report or journal; anything else of that name is not touched.
std::optional<json> read_own(const fs::path& path) {
  if (!fs::exists(path)) return std::nullopt;
  json read = json::parse(read_file(path), nullptr, false);
  if (!read.is_object() || !read.contains("identity") || !read["identity"].is_string())
    throw Failure(WorkerExit::bad_spec,
                  path.string() + " was not written by podium-worker prepare; choose another --out");
  return read;
}

std::optional<Journal> read_journal(const fs::path& path) {
  const std::optional<json> read = read_own(path);
  if (!read) return std::nullopt;
  try {
    if (read->at("version") != kJournalVersion)
      throw BadData(path.string() + " is of another version of Podium; begin anew with --restart");
    const json& at = read->at("position");
    return Journal{read->at("identity"),
                   {at.at("file"), at.at("byte"), at.at("line")},
                   prepare_report_from_json(read->at("report")),
                   read->at("complete"),
                   read->value("replaces", false)};
  } catch (const json::exception& error) {
    throw BadData(path.string() + ": " + error.what() + "; begin anew with --restart");
  }
}

// Places that are told name files and hold bad text as it is, which need not be UTF-8.
std::string text_of(const json& value, int indent = -1) {
  return value.dump(indent, ' ', false, json::error_handler_t::replace);
}

void write_journal(const fs::path& path, const Journal& journal) {
  const TextPosition& at = journal.position;
  write_file_atomic(path, text_of({{"version", kJournalVersion},
                                   {"identity", journal.identity},
                                   {"position", {{"file", at.file}, {"byte", at.byte}, {"line", at.line}}},
                                   {"report", to_json(journal.report)},
                                   {"complete", journal.complete},
                                   {"replaces", journal.replaces}}));
}

// An input that the run would write over.
void refuse_inputs_of_that_name(const PrepareOptions& options) {
  for (const char* suffix : {".bin", ".idx", ".json", ".prepare.json"}) {
    const fs::path written = fs::weakly_canonical(fs::absolute(with_suffix(options.name, suffix)));
    for (const fs::path& file : options.files)
      if (fs::canonical(file) == written)
        throw Failure(WorkerExit::bad_spec,
                      file.string() + " is to be read, and --out would write it; choose another --out");
  }
}

std::optional<fs::path> existing_data(const fs::path& name) {
  for (const char* suffix : {".bin", ".idx"})
    if (fs::exists(with_suffix(name, suffix))) return with_suffix(name, suffix);
  return std::nullopt;
}

// What an earlier run of the same has left to go on from. Refuses to mix two runs, and to write over what
// none wrote.
Journal begin_run(const PrepareOptions& options) {
  const fs::path& name = options.name;
  const std::string identity = identity_of_run(options);
  const std::optional<fs::path> data = existing_data(name);
  if (options.restart) {
    const bool is_own = read_own(report_path(name)).has_value() || read_own(journal_path(name)).has_value();
    if (data && !is_own)
      throw Failure(WorkerExit::bad_spec,
                    data->string() + " was not written by podium-worker prepare; choose another --out");
    return {identity, {}, {}, false, data.has_value()};
  }
  std::optional<Journal> journal = read_journal(journal_path(name));
  if (journal && journal->identity != identity)
    throw Failure(
        WorkerExit::bad_spec,
        name.string() +
            " was begun with other files, another tokenizer or other options, or a file has changed "
            "since; begin anew with --restart");
  if (data && !(journal && (journal->complete || journal->replaces)))
    throw Failure(WorkerExit::bad_spec,
                  data->string() + " exists; choose another --out, or write it anew with --restart");
  return journal ? std::move(*journal) : Journal{.identity = identity};
}

// Also what a kill has left of writing the journal and the report (write_file_atomic).
void remove_traces(const fs::path& name) {
  MegatronWriter::remove_parts(name);
  const std::string begin = name.filename().string();
  std::vector<fs::path> unfinished;
  for (const auto& entry : fs::directory_iterator(name.has_parent_path() ? name.parent_path() : ".")) {
    const std::string file = entry.path().filename().string();
    if (file.starts_with(begin + ".prepare.json.tmp.") || file.starts_with(begin + ".json.tmp."))
      unfinished.push_back(entry.path());
  }
  for (const fs::path& path : unfinished) fs::remove(path);
  fs::remove(journal_path(name));
}

class Run {
 public:
  Run(const PrepareOptions& options, const Tokenizer& tokenizer, const std::atomic<bool>& stop,
      const std::function<void(const PrepareProgress&)>& progress)
      : options_(options),
        tokenizer_(tokenizer),
        stop_(stop),
        progress_(progress),
        journal_(begin_run(options)),
        writer_(options.name, megatron_token_type(tokenizer.size()), journal_.report.data,
                journal_.complete) {
    if (options.restart) write_journal(journal_path(options.name), journal_);
    for (std::uint64_t bytes = 0; const fs::path& file : options.files) {
      bytes_before_.push_back(bytes);
      bytes += fs::file_size(file);
    }
  }

  PrepareResult go() {
    if (!journal_.complete) {
      write_text();
      if (!journal_.complete) return {journal_.report, false};
    }
    refuse_empty();
    fs::remove(report_path(options_.name));  // of earlier data
    writer_.finish();
    json report = to_json(journal_.report);
    report["identity"] = journal_.identity;
    if (!options_.list_identity.empty())
      report["part"] = {
          {"number", options_.part.number}, {"count", options_.part.count}, {"list", options_.list_identity}};
    write_file_atomic(report_path(options_.name), text_of(report, 2) + "\n");
    remove_traces(options_.name);
    return {journal_.report, true};
  }

 private:
  // A share of the files may be empty: the others are not.
  void refuse_empty() {
    if (journal_.report.data.documents > 0 || !options_.list_identity.empty()) return;
    remove_traces(options_.name);
    std::string why = options_.files.front().string();
    if (options_.files.size() > 1) why += " and " + std::to_string(options_.files.size() - 1) + " more";
    why += ": there is no document to prepare";
    for (const PrepareReport::Skipped& skipped : journal_.report.skipped)
      if (skipped.count > 0)
        why += "; " + std::to_string(skipped.count) + " left out such as " + skipped.first.front();
    throw BadData(why);
  }

  void write_text() {
    const TextPosition& from = journal_.position;
    if (from.byte > 0) spdlog::info("going to byte {} of {}", from.byte, options_.files[from.file].string());
    DocumentReader reader(options_.files, options_.rules.documents, journal_.position, stop_);
    OrderedPipeline<TextBatch, EncodedBatch> pipeline(
        options_.threads, kInFlightOfAThread * static_cast<std::size_t>(options_.threads));
    bool stopped = false;
    const auto make_encoder = [&] {
      return [encoder = std::make_shared<DocumentEncoder>(tokenizer_, options_.rules)](
                 const TextBatch& batch) { return encoder->encode(batch); };
    };
    const auto take = [&](EncodedBatch batch) {
      add(batch);
      stopped = stop_;
      return !stopped;
    };
    pipeline.run([&] { return reader.next(); }, [](const TextBatch& batch) { return batch.text.size(); },
                 make_encoder, take);
    journal_.complete = !stopped && !reader.stopped();
    save();
  }

  void add(const EncodedBatch& batch) {
    if (!options_.skip_bad)
      for (const Skip& skip : batch.skips)
        if (skip.reason != SkipReason::empty) throw BadData(describe(skip, options_.files));
    writer_.append(batch.tokens, batch.lengths, batch.document_ends);
    journal_.position = batch.end;
    journal_.report.add(batch, options_.files);
    journal_.report.data = writer_.state();
    progress_({journal_.report, bytes_before_[batch.file] + batch.packed_bytes});
    if (journal_.report.text_bytes >= saved_ + options_.saved_every) save();
  }

  void save() {
    writer_.sync();
    write_journal(journal_path(options_.name), journal_);
    saved_ = journal_.report.text_bytes;
  }

  const PrepareOptions& options_;
  const Tokenizer& tokenizer_;
  const std::atomic<bool>& stop_;
  const std::function<void(const PrepareProgress&)>& progress_;
  Journal journal_;
  MegatronWriter writer_;
  std::vector<std::uint64_t> bytes_before_;  // each file, of those before it
  std::uint64_t saved_ = journal_.report.text_bytes;
};

}  // namespace

PrepareResult prepare(const PrepareOptions& options, const Tokenizer& tokenizer,
                      const std::atomic<bool>& stop,
                      const std::function<void(const PrepareProgress&)>& progress) {
  refuse_inputs_of_that_name(options);
  const std::optional<json> whole = read_own(report_path(options.name));
  if (whole && !options.restart && whole->value("identity", "") == identity_of_run(options) &&
      fs::exists(with_suffix(options.name, ".bin")) && fs::exists(with_suffix(options.name, ".idx"))) {
    remove_traces(options.name);
    return {prepare_report_from_json(*whole), true, true};
  }
  return Run(options, tokenizer, stop, progress).go();
}

}  // namespace podium
