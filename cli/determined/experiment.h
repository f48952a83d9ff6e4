// An experiment's configuration of Determined as it is read, and what is to be told of its translation.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"
#include "common/spec/source_map.h"

namespace podium::cli {

struct Note {
  int line = 0;
  std::string key;   // "searcher.max_trials"
  std::string text;  // why, and what to do instead
  bool left = true;  // out of the spec; else it is there, and means something a little different

  bool operator==(const Note&) const = default;
};

class DeterminedExperiment {
 public:
  // The problems of a text that is no mapping in YAML.
  static Result<DeterminedExperiment> read(std::string_view yaml, std::string_view file);

  const nlohmann::json& document() const { return document_; }
  bool has(const std::string& pointer) const;
  // Null where there is none.
  const nlohmann::json& at(const std::string& pointer) const;
  std::string text(const std::string& pointer, const std::string& otherwise = "") const;
  std::optional<std::int64_t> integer(const std::string& pointer) const;

  void drop(const std::string& pointer);  // what is there

  void left(const std::string& pointer, std::string text) { note(pointer, std::move(text), true); }
  void changed(const std::string& pointer, std::string text) { note(pointer, std::move(text), false); }
  std::vector<Note> take_notes();  // by line

 private:
  void note(const std::string& pointer, std::string text, bool left);

  nlohmann::json document_;
  SourceMap places_;
  std::vector<Note> notes_;
};

}  // namespace podium::cli
