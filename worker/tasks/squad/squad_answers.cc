#include "worker/tasks/squad/squad_answers.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

namespace podium {
namespace {

using nlohmann::ordered_json;

constexpr int kIndent = 4;           // of the official files
constexpr char kNoText[] = "empty";  // the answer of a question without any candidate

// The positions with the `n_best` highest scores in a column, from the highest down; ties from the left.
std::vector<std::int32_t> best_positions(std::span<const float> logits, std::size_t column, int n_best) {
  std::vector<std::int32_t> positions(logits.size() / 2);
  std::iota(positions.begin(), positions.end(), 0);
  const auto score = [&](std::int32_t position) {
    return logits[2 * static_cast<std::size_t>(position) + column];
  };
  const auto end = positions.begin() + std::min<std::ptrdiff_t>(n_best, std::ssize(positions));
  std::ranges::partial_sort(positions, end, [&](std::int32_t a, std::int32_t b) {
    return score(a) > score(b) || (score(a) == score(b) && a < b);
  });
  positions.erase(end, positions.end());
  return positions;
}

// A pair of positions in one of the question's features; nothing else means "none".
struct SpanCandidate {
  std::int64_t feature = -1;
  TokenSpan tokens;  // of the context
  double first = 0, last = 0;

  double score() const { return first + last; }
};

// Of one feature: pairs within the context, not too long, that begin where this feature shows most.
void add_candidates(const SquadFeatures& features, std::int64_t feature, const FeatureScores& scores,
                    const AnswerRules& rules, std::vector<SpanCandidate>& candidates) {
  const SquadFeature& span = features[feature];
  const std::int32_t shift = span.begin - features.context_begin(feature);
  const auto token_of = [&](const FeatureScores::Candidate& candidate) { return candidate.position + shift; };
  const auto in_context = [&](std::int32_t token) {
    return token >= span.begin && token < span.begin + span.length;
  };
  for (const FeatureScores::Candidate& first : scores.firsts) {
    const std::int32_t begin = token_of(first);
    if (!in_context(begin) || !features.shows_most(feature, begin)) continue;
    for (const FeatureScores::Candidate& last : scores.lasts) {
      const std::int32_t end = token_of(last);
      if (!in_context(end) || end < begin || end - begin + 1 > rules.answer_length) continue;
      candidates.push_back({feature, {begin, end}, first.score, last.score});
    }
  }
}

// "None" scores what it does where it scores least among the features.
SpanCandidate none_of(std::span<const FeatureScores> scores) {
  SpanCandidate none;
  for (const FeatureScores& feature : scores)
    if (&feature == scores.data() || feature.null_first + feature.null_last < none.score())
      none = {.first = feature.null_first, .last = feature.null_last};
  return none;
}

void set_probabilities(std::vector<ScoredAnswer>& answers) {
  double highest = answers.front().first + answers.front().last;
  for (const ScoredAnswer& answer : answers) highest = std::max(highest, answer.first + answer.last);
  double sum = 0;
  for (ScoredAnswer& answer : answers)
    sum += answer.probability = std::exp(answer.first + answer.last - highest);
  for (ScoredAnswer& answer : answers) answer.probability /= sum;
}

// The n best of different text.
std::vector<ScoredAnswer> best_texts(const SquadFeatures& features, std::int64_t question,
                                     std::vector<SpanCandidate> candidates, int n_best) {
  std::ranges::stable_sort(candidates, std::greater{}, &SpanCandidate::score);
  const SquadText& text = features.text();
  const SquadContext& context = text.context_of(text.questions()[static_cast<std::size_t>(question)]);
  std::set<std::string> seen;
  std::vector<ScoredAnswer> best;
  for (const SpanCandidate& candidate : candidates) {
    if (std::ssize(best) >= n_best) break;
    std::string found = candidate.feature < 0 ? "" : context.text_of(candidate.tokens);
    if (!seen.insert(found).second) continue;
    best.push_back({std::move(found), 0, candidate.first, candidate.last});
  }
  return best;
}

}  // namespace

void FeatureScores::write(std::span<const float> logits, int n_best, std::span<double> numbers) {
  numbers[0] = logits[0];
  numbers[1] = logits[1];
  for (std::size_t column = 0; column < 2; ++column) {
    auto at = numbers.subspan(2 + column * 2 * static_cast<std::size_t>(n_best));
    for (const std::int32_t position : best_positions(logits, column, n_best)) {
      at[0] = position + 1;  // 0: no candidate
      at[1] = logits[2 * static_cast<std::size_t>(position) + column];
      at = at.subspan(2);
    }
  }
}

FeatureScores FeatureScores::of(std::span<const float> logits, int n_best) {
  std::vector<double> numbers(count(n_best), 0.0);
  write(logits, n_best, numbers);
  return FeatureScores(numbers);
}

FeatureScores::FeatureScores(std::span<const double> numbers)
    : null_first(numbers[0]), null_last(numbers[1]) {
  const std::size_t half = (numbers.size() - 2) / 2;
  for (const auto& [candidates, begin] : {std::pair(&firsts, std::size_t{2}), std::pair(&lasts, 2 + half)})
    for (std::size_t i = begin; i < begin + half; i += 2)
      if (numbers[i] > 0) candidates->push_back({static_cast<std::int32_t>(numbers[i]) - 1, numbers[i + 1]});
}

SquadAnswers answer_question(const SquadFeatures& features, std::int64_t question,
                             std::span<const FeatureScores> scores, const AnswerRules& rules) {
  std::vector<SpanCandidate> candidates;
  for (std::size_t i = 0; i < scores.size(); ++i)
    add_candidates(features, features.first_of(question) + static_cast<std::int64_t>(i), scores[i], rules,
                   candidates);
  const SpanCandidate none = none_of(scores);
  if (rules.may_be_none) candidates.push_back(none);
  SquadAnswers answers;
  answers.best = best_texts(features, question, std::move(candidates), rules.n_best);
  const auto is_text = [](const ScoredAnswer& answer) { return !answer.text.empty(); };
  if (rules.may_be_none && std::ranges::all_of(answers.best, is_text))
    answers.best.push_back({"", 0, none.first, none.last});
  answers.has_candidate = !answers.best.empty();
  if (!answers.has_candidate) answers.best.push_back({kNoText, 0, 0, 0});
  set_probabilities(answers.best);
  if (!rules.may_be_none) {
    answers.answer = answers.best.front().text;
    return answers;
  }
  const auto best = std::ranges::find_if(answers.best, is_text);
  if (best == answers.best.end()) {
    answers.null_odds = none.score();
    return answers;
  }
  answers.null_odds = none.score() - best->first - best->last;
  if (!(answers.null_odds > rules.null_threshold)) answers.answer = best->text;
  return answers;
}

AnswerFiles answer_files(std::span<const std::string> ids, std::span<const SquadAnswers> answers) {
  ordered_json::object_t predictions, n_best, null_odds;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    ordered_json best = ordered_json::array();
    for (const ScoredAnswer& answer : answers[i].best)
      best.push_back({{"text", answer.text},
                      {"probability", answer.probability},
                      {"start_logit", answer.first},
                      {"end_logit", answer.last}});
    predictions.emplace_back(ids[i], answers[i].answer);  // without looking whether the id is there already
    n_best.emplace_back(ids[i], std::move(best));
    null_odds.emplace_back(ids[i], answers[i].null_odds);
  }
  const auto text_of = [](ordered_json::object_t object) {
    return ordered_json(std::move(object)).dump(kIndent, ' ', true) + "\n";
  };
  return {text_of(std::move(predictions)), text_of(std::move(n_best)), text_of(std::move(null_odds))};
}

}  // namespace podium
