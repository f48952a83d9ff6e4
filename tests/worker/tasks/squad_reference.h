// What Google's run_squad.py does, step by step on texts of tokens and slowly, to hold squad_text.h and
// squad_answers.h against.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "worker/input/utf8.h"
#include "worker/tasks/squad/squad_data.h"
#include "worker/tokenizer/wordpiece.h"

namespace podium::run_squad {

using Texts = std::vector<std::string>;

inline Texts characters(const std::string& text) {
  Texts all;
  split_characters(text, [&](std::string_view one) { all.emplace_back(one); });
  return all;
}

inline std::string join(const Texts& parts, std::size_t begin, std::size_t end) {
  std::string text;
  for (std::size_t i = begin; i < end; ++i) text += (i > begin ? " " : "") + parts[i];
  return text;
}

inline Texts tokens_of(const WordPieceTokenizer& tokenizer, const std::string& text) {
  std::vector<std::int32_t> ids;
  tokenizer.encode(text, ids);
  Texts tokens;
  for (const std::int32_t id : ids) tokens.push_back(tokenizer.vocabulary().token(id));
  return tokens;
}

// read_squad_examples
struct Example {
  Texts doc_tokens;
  std::vector<int> char_to_word;
  std::string question, answer;
  int start = -1, end = -1;  // words
};

inline Example read_context(const std::string& context) {
  Example example;
  bool previous_is_space = true;
  for (const std::string& c : characters(context)) {
    if (c == " " || c == "\t" || c == "\r" || c == "\n" || c == "\u202F") {
      previous_is_space = true;
    } else {
      if (previous_is_space)
        example.doc_tokens.push_back(c);
      else
        example.doc_tokens.back() += c;
      previous_is_space = false;
    }
    example.char_to_word.push_back(static_cast<int>(example.doc_tokens.size()) - 1);
  }
  return example;
}

// false: the answer is not in the context. Of answers with ASCII white space alone.
inline bool set_answer(Example& example, const SquadAnswer& answer) {
  const auto length = static_cast<std::int64_t>(characters(answer.text).size());
  if (answer.begin < 0 || answer.begin + length > std::ssize(example.char_to_word)) return false;
  example.answer = answer.text;
  example.start = example.char_to_word[static_cast<std::size_t>(answer.begin)];
  example.end = example.char_to_word[static_cast<std::size_t>(answer.begin + length - 1)];
  const std::string actual = join(example.doc_tokens, static_cast<std::size_t>(example.start),
                                  static_cast<std::size_t>(example.end) + 1);
  const Texts words = read_context(answer.text).doc_tokens;
  return actual.find(join(words, 0, words.size())) != std::string::npos;
}

// convert_examples_to_features
struct Feature {
  Texts tokens;
  std::map<int, int> token_to_word;
  std::map<int, bool> is_max_context;
  std::map<int, int> token_of_context;
  int start_position = 0, end_position = 0;
};

struct DocSpan {
  int start, length;
};

inline bool check_is_max_context(const std::vector<DocSpan>& spans, std::size_t current, int position) {
  std::optional<double> best_score;
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const int end = spans[i].start + spans[i].length - 1;
    if (position < spans[i].start || position > end) continue;
    const double score = std::min(position - spans[i].start, end - position) + 0.01 * spans[i].length;
    if (best_score && score <= *best_score) continue;
    best_score = score;
    best = i;
  }
  return best == current;
}

inline std::vector<Feature> features_of(const Example& example, const WordPieceTokenizer& tokenizer,
                                        int max_length, int doc_stride, int max_query) {
  Texts query = tokens_of(tokenizer, example.question);
  if (std::ssize(query) > max_query) query.resize(static_cast<std::size_t>(max_query));
  std::vector<int> tok_to_word, word_to_tok;
  Texts all;
  for (std::size_t word = 0; word < example.doc_tokens.size(); ++word) {
    word_to_tok.push_back(static_cast<int>(all.size()));
    for (const std::string& token : tokens_of(tokenizer, example.doc_tokens[word])) {
      tok_to_word.push_back(static_cast<int>(word));
      all.push_back(token);
    }
  }
  int tok_start = -1, tok_end = -1;
  if (example.start >= 0) {
    tok_start = word_to_tok[static_cast<std::size_t>(example.start)];
    tok_end = example.end < std::ssize(example.doc_tokens) - 1
                  ? word_to_tok[static_cast<std::size_t>(example.end) + 1] - 1
                  : static_cast<int>(all.size()) - 1;
    const Texts own = tokens_of(tokenizer, example.answer);  // _improve_answer_span
    const std::string answer = join(own, 0, own.size());
    [&] {
      for (int start = tok_start; start <= tok_end; ++start)
        for (int end = tok_end; end >= start; --end)
          if (join(all, static_cast<std::size_t>(start), static_cast<std::size_t>(end) + 1) == answer) {
            tok_start = start;
            tok_end = end;
            return;
          }
    }();
  }
  const int most = max_length - static_cast<int>(query.size()) - 3, count = static_cast<int>(all.size());
  std::vector<DocSpan> spans;
  for (int begin = 0; begin < count;) {
    const int length = std::min(count - begin, most);
    spans.push_back({begin, length});
    if (begin + length == count) break;
    begin += std::min(length, doc_stride);
  }
  std::vector<Feature> features;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    Feature feature;
    feature.tokens = {"[CLS]"};
    feature.tokens.insert(feature.tokens.end(), query.begin(), query.end());
    feature.tokens.emplace_back("[SEP]");
    for (int k = 0; k < spans[i].length; ++k) {
      const int at = static_cast<int>(feature.tokens.size()), token = spans[i].start + k;
      feature.token_to_word[at] = tok_to_word[static_cast<std::size_t>(token)];
      feature.is_max_context[at] = check_is_max_context(spans, i, token);
      feature.token_of_context[at] = token;
      feature.tokens.push_back(all[static_cast<std::size_t>(token)]);
    }
    feature.tokens.emplace_back("[SEP]");
    if (tok_start >= spans[i].start && tok_end <= spans[i].start + spans[i].length - 1 &&
        example.start >= 0) {
      const int offset = static_cast<int>(query.size()) + 2 - spans[i].start;
      feature.start_position = tok_start + offset;
      feature.end_position = tok_end + offset;
    }
    features.push_back(std::move(feature));
  }
  return features;
}

// write_predictions, of one question. `logits` of each feature [tokens][2]; text_of the tokens of a feature.
struct Entry {
  std::string text;
  double start, end, probability = 0;
};
struct Prediction {
  std::string answer;
  std::vector<Entry> best;
  double score_diff = 0;
};
using Logits = std::vector<std::array<float, 2>>;
using TextOf = std::function<std::string(const Feature&, int start, int end)>;

inline std::vector<int> best_indexes(const Logits& logits, std::size_t column, int n_best) {
  std::vector<int> order;
  for (int i = 0; i < std::ssize(logits); ++i) order.push_back(i);
  std::ranges::stable_sort(order, [&](int a, int b) {
    return logits[static_cast<std::size_t>(a)][column] > logits[static_cast<std::size_t>(b)][column];
  });
  order.resize(std::min(order.size(), static_cast<std::size_t>(n_best)));
  return order;
}

inline Prediction predict(const std::vector<Feature>& features, const std::vector<Logits>& logits, int n_best,
                          int max_answer, bool version2, double threshold, const TextOf& text_of) {
  struct Prelim {
    std::size_t feature;
    int start, end;
    double start_logit, end_logit;
  };
  std::vector<Prelim> prelim;
  double score_null = 1000000, null_start = 0, null_end = 0;
  for (std::size_t f = 0; f < features.size(); ++f) {
    if (const double score = double{logits[f][0][0]} + logits[f][0][1]; version2 && score < score_null) {
      score_null = score;
      null_start = logits[f][0][0];
      null_end = logits[f][0][1];
    }
    for (const int start : best_indexes(logits[f], 0, n_best))
      for (const int end : best_indexes(logits[f], 1, n_best)) {
        if (!features[f].token_to_word.contains(start) || !features[f].token_to_word.contains(end)) continue;
        if (!features[f].is_max_context.at(start) || end < start || end - start + 1 > max_answer) continue;
        prelim.push_back({f, start, end, logits[f][static_cast<std::size_t>(start)][0],
                          logits[f][static_cast<std::size_t>(end)][1]});
      }
  }
  if (version2) prelim.push_back({0, 0, 0, null_start, null_end});
  std::ranges::stable_sort(prelim, [](const Prelim& a, const Prelim& b) {
    return a.start_logit + a.end_logit > b.start_logit + b.end_logit;
  });
  Prediction prediction;
  std::set<std::string> seen;
  for (const Prelim& one : prelim) {
    if (std::ssize(prediction.best) >= n_best) break;
    std::string text;
    if (one.start > 0) {
      text = text_of(features[one.feature], one.start, one.end);
      if (seen.contains(text)) continue;
    }
    seen.insert(text);
    prediction.best.push_back({text, one.start_logit, one.end_logit});
  }
  if (version2 && !seen.contains("")) prediction.best.push_back({"", null_start, null_end});
  if (prediction.best.empty()) prediction.best.push_back({"empty", 0, 0});
  double highest = -1e300, sum = 0;
  for (const Entry& entry : prediction.best) highest = std::max(highest, entry.start + entry.end);
  for (Entry& entry : prediction.best) sum += entry.probability = std::exp(entry.start + entry.end - highest);
  for (Entry& entry : prediction.best) entry.probability /= sum;
  prediction.answer = prediction.best[0].text;
  if (!version2) return prediction;
  prediction.score_diff = score_null;  // run_squad.py fails where no text is among the best
  for (const Entry& entry : prediction.best) {
    if (entry.text.empty()) continue;
    prediction.score_diff = score_null - entry.start - entry.end;
    prediction.answer = prediction.score_diff > threshold ? "" : entry.text;
    break;
  }
  return prediction;
}

// get_final_text. `whole`: it returned the words as they are; `ambiguous`: the text occurs in the words
// twice.
struct FinalText {
  std::string text;
  bool whole = false, ambiguous = false;
};

inline FinalText final_text(const std::string& predicted, const std::string& words, bool lowercase) {
  NormalizedText normal;
  BertNormalizer(BertRules::for_case(lowercase)).normalize(words, std::nullopt, normal);
  Texts basic;
  for_each_word(normal.text, [&](std::size_t begin, std::size_t end) {
    basic.push_back(normal.text.substr(begin, end - begin));
  });
  const Texts original = characters(words), tokenized = characters(join(basic, 0, basic.size())),
              wanted = characters(predicted);
  const auto found = std::ranges::search(tokenized, wanted);
  if (found.empty()) return {words, true};
  const bool ambiguous =
      !std::ranges::search(std::ranges::subrange(found.begin() + 1, tokenized.end()), wanted).empty();
  const auto places_of = [](const Texts& text) {  // of what is no space
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < text.size(); ++i)
      if (text[i] != " ") places.push_back(i);
    return places;
  };
  const std::vector<std::size_t> from = places_of(tokenized), to = places_of(original);
  if (from.size() != to.size()) return {words, true, ambiguous};
  const auto start = static_cast<std::size_t>(found.begin() - tokenized.begin());
  const auto project = [&](std::size_t place) {
    return to[static_cast<std::size_t>(std::ranges::find(from, place) - from.begin())];
  };
  std::string text;
  for (std::size_t i = project(start); i <= project(start + wanted.size() - 1); ++i) text += original[i];
  return {text, false, ambiguous};
}

}  // namespace podium::run_squad
