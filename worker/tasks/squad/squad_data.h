// SQuAD 1.1 and 2.0 as published (Rajpurkar et al., 2016 and 2018): articles of paragraphs, each a context
// with questions. A file is of version 2.0 if it says so or a question has "is_impossible"; only there a
// question may have no answer. What is malformed is BadData that names the file and the place within it, such
// as data[3].paragraphs[0].qas[2].answers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace podium {

struct SquadAnswer {
  std::string text;
  std::int64_t begin = 0;  // in the context, in characters; the file may say anything
};

struct SquadQuestion {
  std::string id;
  std::string text;
  std::vector<SquadAnswer> answers;
  bool impossible = false;
};

struct SquadParagraph {
  std::string context;
  std::vector<SquadQuestion> questions;
};

struct SquadData {
  bool version2 = false;
  std::vector<SquadParagraph> paragraphs;

  std::int64_t questions() const;
};

// The JSON in memory takes about ten times the file. Throws BadData, also where there is no question.
SquadData read_squad(const std::filesystem::path& path);

// predictions.json and null_odds.json: an object with a text or a number for each question's id, in the
// file's order.
std::vector<std::pair<std::string, std::string>> read_squad_predictions(const std::filesystem::path& path);
std::vector<std::pair<std::string, double>> read_squad_null_odds(const std::filesystem::path& path);

}  // namespace podium
