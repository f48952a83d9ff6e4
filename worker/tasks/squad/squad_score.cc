#include "worker/tasks/squad/squad_score.h"

#include <unicode/locid.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "worker/input/bad_data.h"
#include "worker/input/white_space.h"

namespace podium {
namespace {

bool is_ascii_punctuation(UChar32 c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

// Python's \w without the underscore, which is punctuation here.
bool is_of_word(UChar32 c) {
  return u_isalpha(c) || u_getIntPropertyValue(c, UCHAR_NUMERIC_TYPE) != U_NT_NONE;
}

// Whole words a, an and the become a space.
icu::UnicodeString without_articles(const icu::UnicodeString& text) {
  const auto is_article = [](const icu::UnicodeString& word) {
    return word == u"a" || word == u"an" || word == u"the";
  };
  icu::UnicodeString kept, word;
  const auto end_word = [&] {
    kept += is_article(word) ? icu::UnicodeString(u' ') : word;
    word.remove();
  };
  for (int32_t i = 0; i < text.length(); i = text.moveIndex32(i, 1)) {
    const UChar32 c = text.char32At(i);
    if (is_of_word(c)) {
      word += c;
      continue;
    }
    end_word();
    kept += c;
  }
  end_word();
  return kept;
}

// The words of a normalised answer.
std::vector<std::string> words_of(std::string_view answer) {
  icu::UnicodeString lower =
      icu::UnicodeString::fromUTF8({answer.data(), static_cast<int32_t>(answer.size())});
  lower.toLower(icu::Locale::getRoot());
  icu::UnicodeString bare;
  for (int32_t i = 0; i < lower.length(); i = lower.moveIndex32(i, 1))
    if (const UChar32 c = lower.char32At(i); !is_ascii_punctuation(c)) bare += c;
  const icu::UnicodeString text = without_articles(bare);
  std::vector<std::string> words;
  icu::UnicodeString word;
  const auto end_word = [&] {
    if (!word.isEmpty()) word.toUTF8String(words.emplace_back());
    word.remove();
  };
  for (int32_t i = 0; i < text.length(); i = text.moveIndex32(i, 1)) {
    const UChar32 c = text.char32At(i);
    if (is_python_space(c))
      end_word();
    else
      word += c;
  }
  end_word();
  return words;
}

double f1_of(const std::vector<std::string>& answer, const std::vector<std::string>& truth,
             SquadRules rules) {
  if (rules == SquadRules::v2 && (answer.empty() || truth.empty())) return answer == truth ? 1 : 0;
  std::map<std::string_view, int> left;
  for (const std::string& word : truth) ++left[word];
  int same = 0;
  for (const std::string& word : answer) {
    const auto found = left.find(word);
    if (found == left.end() || found->second == 0) continue;
    --found->second;
    ++same;
  }
  if (same == 0) return 0;
  const double precision = 1.0 * same / static_cast<double>(answer.size());
  const double recall = 1.0 * same / static_cast<double>(truth.size());
  return (2 * precision * recall) / (precision + recall);
}

template <class Visit>
void for_each_question(const SquadData& data, const Visit& visit) {
  for (const SquadParagraph& paragraph : data.paragraphs)
    for (const SquadQuestion& question : paragraph.questions) visit(question);
}

// A sum of scores that becomes their mean in percent.
struct ScoreSum {
  double exact = 0, f1 = 0;
  std::int64_t questions = 0;

  void add(const AnswerScore& score) {
    exact += score.exact;
    f1 += score.f1;
    ++questions;
  }
  MeanScore mean() const {
    const auto count = static_cast<double>(questions);
    return {100.0 * exact / count, 100.0 * f1 / count, questions};
  }
  std::optional<MeanScore> mean_if_any() const {
    return questions > 0 ? std::optional(mean()) : std::nullopt;
  }
};

// A question that was answered.
struct Scored {
  AnswerScore score;
  bool has_answer = false;
  bool answered_with_none = false;
};

using ScoredById = std::unordered_map<std::string, Scored>;

// One of the two scores as a function of the threshold, which passes the odds in ascending order (equal ones
// as they come): below it an answer counts as given, above it as none.
std::pair<double, double> best_threshold(const ScoredById& scored, double AnswerScore::*score,
                                         std::vector<std::pair<std::string, double>> odds,
                                         std::int64_t without_answer) {
  std::ranges::stable_sort(odds, {}, &std::pair<std::string, double>::second);
  auto current = static_cast<double>(without_answer);
  double best = current, threshold = 0;
  for (const auto& [id, odd] : odds) {
    const auto found = scored.find(id);
    if (found == scored.end()) continue;
    const Scored& question = found->second;
    if (question.has_answer)
      current += question.score.*score;
    else if (!question.answered_with_none)
      current -= 1;
    if (current > best) {
      best = current;
      threshold = odd;
    }
  }
  return {100.0 * best / static_cast<double>(scored.size()), threshold};
}

}  // namespace

std::string normalized_answer(std::string_view answer) {
  std::string text;
  for (const std::string& word : words_of(answer)) text += (text.empty() ? "" : " ") + word;
  return text;
}

AnswerScore score_answer(std::string_view answer, std::span<const SquadAnswer> truths, SquadRules rules) {
  const std::vector<std::string> words = words_of(answer);
  AnswerScore best;
  bool any = false;
  const auto hold_against = [&](const std::vector<std::string>& truth) {
    best.exact = std::max(best.exact, words == truth ? 1.0 : 0.0);
    best.f1 = std::max(best.f1, f1_of(words, truth, rules));
    any = true;
  };
  for (const SquadAnswer& truth : truths) {
    const std::vector<std::string> true_words = words_of(truth.text);
    if (rules == SquadRules::v1 || !true_words.empty()) hold_against(true_words);
  }
  if (!any) hold_against({});
  return best;
}

SquadScores score_squad_v1(const SquadData& data, const SquadPredictions& predictions) {
  SquadScores scores;
  ScoreSum sum;
  for_each_question(data, [&](const SquadQuestion& question) {
    const auto found = predictions.find(question.id);
    if (found == predictions.end()) {
      scores.unanswered.push_back(question.id);
      sum.add({});
    } else {
      sum.add(score_answer(found->second, question.answers, SquadRules::v1));
    }
  });
  scores.all = sum.mean();
  return scores;
}

SquadScores score_squad_v2(const SquadData& data, const SquadPredictions& predictions, const NullOdds* odds) {
  std::unordered_map<std::string, double> odds_of;
  if (odds != nullptr) odds_of.insert(odds->by_id.begin(), odds->by_id.end());
  const auto taken_for_none = [&](const std::string& id) {
    if (odds == nullptr) return false;
    const auto found = odds_of.find(id);
    if (found == odds_of.end()) throw BadData("the null odds have none for the question \"" + id + "\"");
    return found->second > odds->threshold;
  };
  SquadScores scores;
  ScoreSum all, has_answer, no_answer;
  ScoredById scored;
  std::int64_t without_answer = 0;
  for_each_question(data, [&](const SquadQuestion& question) {
    const bool has = !question.answers.empty();
    without_answer += !has;
    const auto found = predictions.find(question.id);
    if (found == predictions.end()) return scores.unanswered.push_back(question.id);
    const AnswerScore raw = score_answer(found->second, question.answers, SquadRules::v2);
    scored[question.id] = {raw, has, found->second.empty()};
    const double none = has ? 0 : 1;
    const AnswerScore score = taken_for_none(question.id) ? AnswerScore{none, none} : raw;
    all.add(score);
    (has ? has_answer : no_answer).add(score);
  });
  if (all.questions == 0) throw BadData("the predictions answer none of the questions");
  scores.all = all.mean();
  scores.has_answer = has_answer.mean_if_any();
  scores.no_answer = no_answer.mean_if_any();
  if (odds != nullptr) {
    BestThresholds best;
    std::tie(best.exact, best.exact_threshold) =
        best_threshold(scored, &AnswerScore::exact, odds->by_id, without_answer);
    std::tie(best.f1, best.f1_threshold) =
        best_threshold(scored, &AnswerScore::f1, odds->by_id, without_answer);
    scores.best = best;
  }
  return scores;
}

}  // namespace podium
