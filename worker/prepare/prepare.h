// Text to Megatron data (worker/data/megatron_writer.h): files to batches of documents, to tokens on many
// threads, to NAME.bin and NAME.idx. What is written is a pure function of files, tokenizer and rules:
// neither the number of threads nor how often it was killed and started again changes a byte.
//
// NAME.prepare.json is the journal: what the run is of, and how far what lies on the disk has come. A run
// that finds its own goes on from there; NAME.json, the report, is the last file to appear.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "worker/prepare/document_encoder.h"
#include "worker/prepare/inputs.h"
#include "worker/prepare/prepare_report.h"

namespace podium {

struct PrepareOptions {
  std::vector<std::filesystem::path> files;
  std::filesystem::path name;  // of what is written, without the ending
  Part part;                   // which share of a list of files `files` are
  std::string list_identity;   // of that list (list_identity_of()); empty where no part was asked for
  EncodingRules rules;
  std::string tokenizer_identity;  // what tells whether a run is of the same tokenizer
  int threads = 1;
  bool skip_bad = false;                                 // leaves bad documents out and counts them
  bool restart = false;                                  // forgets what an earlier run has written
  std::uint64_t saved_every = std::uint64_t{256} << 20;  // bytes of text
};

struct PrepareResult {
  PrepareReport report;
  bool finished = false;     // false: stopped; the same call goes on
  bool found_whole = false;  // an earlier run had finished
};

struct PrepareProgress {
  const PrepareReport& report;
  std::uint64_t file_bytes = 0;  // of the files as they lie on the disk, dealt with so far
};

// Calls `progress` after each batch. Throws BadData ("file:line: why") at what is bad, and Failure; what was
// written by then stays for the next run.
PrepareResult prepare(const PrepareOptions& options, const Tokenizer& tokenizer,
                      const std::atomic<bool>& stop,
                      const std::function<void(const PrepareProgress&)>& progress);

}  // namespace podium
