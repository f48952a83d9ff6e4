// podium-worker prepare: text to Megatron's .bin and .idx.
#include <omp.h>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>

#include "common/base/logging.h"
#include "common/base/units.h"
#include "worker/commands/commands.h"
#include "worker/commands/prepare_progress.h"
#include "worker/commands/signals.h"
#include "worker/commands/tokenizer_argument.h"
#include "worker/data/failure.h"
#include "worker/prepare/inputs.h"
#include "worker/prepare/prepare.h"
#include "worker/tokenizer/bpe_tokenizer.h"
#include "worker/tokenizer/load_tokenizer.h"

namespace podium {
namespace {

namespace fs = std::filesystem;

constexpr char kPrepareExamples[] = R"(
Examples:
  podium-worker prepare --tokenizer wordpiece:vocab.txt --out data/wiki 'wiki/*.txt.zst'
  podium-worker prepare --tokenizer gpt2 --append-eod --jsonl text --out data/web web/          # a folder
  podium-worker prepare --tokenizer gpt2 --append-eod --documents end-of-text --out data/books books.txt.gz
  podium-worker prepare --tokenizer bert-base-uncased --jsonl text --sequences sentences --out data/bert web/
  podium-worker prepare --tokenizer gpt2 --append-eod --jsonl text --part 0/4 --out data/part web/

Writes data/wiki.bin and data/wiki.idx, which Podium (data.train: wiki) and Megatron-LM read, and data/wiki.json, the
report. Files are plain, .gz or .zst; documents keep their order. Killed or stopped, the same command goes on where it was,
to the same bytes. With --part K/N it takes the Kth of N shares of the files, from 0, and adds -K-of-N to the names.)";

struct PrepareArguments {
  std::vector<std::string> inputs;
  std::string tokenizer;
  bool cased = false;
  std::string out;
  std::string field;
  DocumentForm documents = DocumentForm::blank_lines;
  std::optional<SequenceForm> sequences;
  bool append_eod = false;
  bool skip_bad = false;
  bool restart = false;
  bool json = false;
  int threads = 0;
  std::string part;
  std::string saved_every = "256MiB";
};

const std::map<std::string, DocumentForm> kDocumentForms{{"blank-lines", DocumentForm::blank_lines},
                                                         {"lines", DocumentForm::lines},
                                                         {"end-of-text", DocumentForm::end_of_text}};
const std::map<std::string, SequenceForm> kSequenceForms{{"documents", SequenceForm::documents},
                                                         {"lines", SequenceForm::lines},
                                                         {"sentences", SequenceForm::sentences}};

Part parse_part(const std::string& text) {
  Part part;
  char behind = 0;
  if (text.empty()) return part;
  if (std::sscanf(text.c_str(), "%d/%d%c", &part.number, &part.count, &behind) != 2 || part.number < 0 ||
      part.number >= part.count)
    refuse_spec("--part " + text + " is no K/N with K from 0 to N - 1");
  return part;
}

EncodingRules encoding_rules_of(const PrepareArguments& arguments, const Tokenizer& tokenizer) {
  const auto* byte_pairs = dynamic_cast<const BpeTokenizer*>(&tokenizer);
  EncodingRules rules;
  rules.documents = arguments.field.empty() ? arguments.documents : DocumentForm::objects;
  rules.field = arguments.field;
  rules.sequences = arguments.sequences.value_or(byte_pairs ? SequenceForm::documents : SequenceForm::lines);
  if (!arguments.append_eod) return rules;
  if (!byte_pairs || byte_pairs->vocabulary().end_of_text() < 0)
    refuse_spec("--append-eod: the tokenizer has no <|endoftext|>");
  rules.end_of_document = byte_pairs->vocabulary().end_of_text();
  return rules;
}

// Whether an interrupted run was of the same tokenizer: by its files.
std::string identity_of_tokenizer(const PrepareArguments& arguments) {
  std::vector<fs::path> files;
  const std::string& what = arguments.tokenizer;
  if (fs::is_directory(what)) {
    for (const char* name : kTokenizerFiles)
      if (fs::exists(fs::path(what) / name)) files.push_back(fs::path(what) / name);
  } else {
    const std::string names = what.substr(what.find(':') + 1);
    const std::size_t comma = names.find(',');
    files.emplace_back(names.substr(0, comma));
    if (comma != std::string::npos) files.emplace_back(names.substr(comma + 1));
  }
  return identity_of(files) + (arguments.cased ? " cased" : "");
}

PrepareOptions options_of(const PrepareArguments& arguments, const Tokenizer& tokenizer) {
  PrepareOptions options;
  options.part = parse_part(arguments.part);
  options.files = expand_inputs(arguments.inputs, arguments.out);
  options.name = arguments.out;
  if (!arguments.part.empty()) {
    options.name += fmt::format("-{:05}-of-{:05}", options.part.number, options.part.count);
    options.list_identity = list_identity_of(options.files);
    options.files = share_of(options.files, options.part);
  }
  options.rules = encoding_rules_of(arguments, tokenizer);
  options.tokenizer_identity = identity_of_tokenizer(arguments);
  options.threads = arguments.threads > 0 ? arguments.threads : omp_get_max_threads();
  options.skip_bad = arguments.skip_bad;
  options.restart = arguments.restart;
  const auto saved_every = parse_size(arguments.saved_every);
  if (!saved_every) refuse_spec("--save-every " + arguments.saved_every + " is no size such as 256MiB");
  options.saved_every = static_cast<std::uint64_t>(*saved_every);
  return options;
}

void print_report(const PrepareResult& result, const PrepareOptions& options, double seconds, bool as_json) {
  const PrepareReport& report = result.report;
  if (as_json) {
    nlohmann::json told = to_json(report);
    told["name"] = options.name.string();
    told["files"] = options.files.size();
    told["finished"] = result.finished;
    told["seconds"] = seconds;
    fmt::print("{}\n", told.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    return;
  }
  fmt::print("{}: {} documents, {} sequences, {} tokens in {} bytes, from {} bytes of text in {} files{}\n",
             options.name.string(), report.data.documents, report.data.sequences, report.tokens,
             report.data.token_bytes, report.text_bytes, options.files.size(),
             result.found_whole ? "; it was whole already" : "");
  for (std::size_t reason = 0; reason < report.skipped.size(); ++reason) {
    const auto& skipped = report.skipped[reason];
    if (skipped.count == 0) continue;
    fmt::print("left out, {}: {}\n", to_string(static_cast<SkipReason>(reason)), skipped.count);
    for (const std::string& place : skipped.first) fmt::print("  {}\n", place);
    if (skipped.count > std::ssize(skipped.first)) fmt::print("  …\n");
  }
}

// A failure of the disk may pass, and the job is started again; any other needs another command.
[[noreturn]] void fail(const std::system_error& error, WorkerExit exit, const char* remedy) {
  const int code = error.code().value();
  const bool is_disks = code == ENOSPC || code == EDQUOT || code == EIO;
  throw Failure(
      is_disks ? WorkerExit::disk_full : exit,
      fmt::format("{}; {}", error.what(), is_disks ? "the same command goes on where it was" : remedy));
}

PrepareOptions checked_options_of(const PrepareArguments& arguments, const Tokenizer& tokenizer) {
  try {
    return options_of(arguments, tokenizer);
  } catch (const std::system_error& error) {
    fail(error, WorkerExit::bad_data, "name files and folders that can be read");
  }
}

WorkerExit run_prepare(const PrepareArguments& arguments) {
  const StopSignals signals;
  const std::unique_ptr<const Tokenizer> tokenizer =
      load_tokenizer_argument(arguments.tokenizer, arguments.cased);
  const PrepareOptions options = checked_options_of(arguments, *tokenizer);
  try {
    if (options.name.has_parent_path()) fs::create_directories(options.name.parent_path());
    ProgressPrinter printer(bytes_of(options.files));
    const PrepareResult result = prepare(options, *tokenizer, signals.stop(),
                                         [&](const PrepareProgress& progress) { printer.show(progress); });
    printer.close();
    print_report(result, options, printer.seconds(), arguments.json);
    if (!result.finished) spdlog::warn("stopped; the same command goes on with {}", options.name.string());
    return result.finished ? WorkerExit::done : WorkerExit::saved;
  } catch (const std::system_error& error) {
    fail(error, WorkerExit::bad_spec, "choose an --out that can be written, or fewer --threads");
  }
}

}  // namespace

void add_prepare(CLI::App& app, WorkerExit& exit) {
  const auto arguments = std::make_shared<PrepareArguments>();
  CLI::App* command = app.add_subcommand("prepare", "Turn text into Megatron's .bin and .idx");
  command->footer(kPrepareExamples);
  command->add_option("inputs", arguments->inputs, "Files, folders and globs")->required();
  command
      ->add_option("--tokenizer", arguments->tokenizer,
                   "wordpiece:VOCAB.txt, bpe:VOCAB.json,MERGES.txt or a folder with a tokenizer")
      ->required();
  command->add_flag("--cased", arguments->cased, "With wordpiece: keep capitals and accents");
  const CLI::Validator given([](const std::string& value) { return value.empty() ? "it is empty" : ""; }, "");
  command->add_option("--out", arguments->out, "NAME of NAME.bin, NAME.idx and NAME.json")
      ->required()
      ->check([](const std::string& name) {
        return fs::path(name).filename().empty() ? name + " names no file" : std::string();
      });
  CLI::Option* objects = command
                             ->add_option("--jsonl", arguments->field,
                                          "Lines are JSON objects; a document is the text of this member")
                             ->check(given);
  command
      ->add_option("--documents", arguments->documents,
                   "What separates documents of plain text: blank-lines (default), lines or end-of-text")
      ->transform(CLI::CheckedTransformer(kDocumentForms, CLI::ignore_case).description(""))
      ->excludes(objects);
  command
      ->add_option("--sequences", arguments->sequences,
                   "What a sequence of the data is: documents (default with byte pairs), lines (default with "
                   "WordPiece) or sentences")
      ->transform(CLI::CheckedTransformer(kSequenceForms, CLI::ignore_case).description(""));
  command->add_flag("--append-eod", arguments->append_eod, "End each document with <|endoftext|>");
  command->add_flag("--skip-bad", arguments->skip_bad, "Leave bad documents out and count them");
  command->add_flag("--restart", arguments->restart,
                    "Begin anew; what an earlier run has finished stays until this one has");
  command
      ->add_option("--threads", arguments->threads,
                   "Threads that tokenize (default: OMP_NUM_THREADS, else one for each core)")
      ->check(CLI::Range(1, 1024));
  command->add_option("--part", arguments->part, "K/N: the Kth of N shares of the files, from 0")
      ->check(given);
  command
      ->add_option("--save-every", arguments->saved_every,
                   "Text between two points that a killed run goes on from")
      ->capture_default_str();
  command->add_flag("--json", arguments->json, "Print the report as JSON");
  command->callback([arguments, &exit] { exit = run_prepare(*arguments); });
}

}  // namespace podium
