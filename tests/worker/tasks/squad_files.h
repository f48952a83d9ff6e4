// SQuAD's JSON for tests.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace podium {

// Of one question; `begin` -1: it has no answer, and the file is of version 2.0.
struct SquadCase {
  std::string id, question, answer;
  int begin = 0;
};

inline nlohmann::json squad_paragraph(const std::string& context, const std::vector<SquadCase>& cases) {
  nlohmann::json questions = nlohmann::json::array();
  for (const SquadCase& one : cases) {
    nlohmann::json question{{"id", one.id}, {"question", one.question}};
    question["answers"] = nlohmann::json::array();
    if (one.begin >= 0)
      question["answers"].push_back({{"text", one.answer}, {"answer_start", one.begin}});
    else
      question["is_impossible"] = true;
    questions.push_back(question);
  }
  return {{"context", context}, {"qas", questions}};
}

inline std::string squad_file(const std::vector<nlohmann::json>& paragraphs,
                              const std::string& version = "1.1") {
  return nlohmann::json{{"version", version}, {"data", {{{"title", "test"}, {"paragraphs", paragraphs}}}}}
      .dump();
}

}  // namespace podium
