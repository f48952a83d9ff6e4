#include "worker/tasks/squad/squad_task.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "worker/data/failure.h"
#include "worker/data/shuffle.h"
#include "worker/input/bad_data.h"
#include "worker/input/text_files.h"
#include "worker/nn/row_layout.h"
#include "worker/tasks/held_out_files.h"
#include "worker/tasks/squad/span_head.h"
#include "worker/tasks/taught_loss.h"
#include "worker/train/phases.h"

namespace podium {
namespace {

// The stream of a seed that orders features; the low bits number the epoch.
constexpr std::uint64_t kFeatureStream = std::uint64_t{6} << 60;

enum Total : std::size_t { kFeatures, kTotals };

void add_held_out(const std::filesystem::path& file, SquadJobText& text, Reading& reading) {
  const SquadData data = read_squad(file);
  text.held_out.add_questions(data, text.tokenizer, reading);
  text.held_out_data.version2 |= data.version2;
  auto& questions = text.held_out_data.paragraphs.front().questions;
  for (const SquadParagraph& paragraph : data.paragraphs)
    questions.insert(questions.end(), paragraph.questions.begin(), paragraph.questions.end());
}

void add_part(const std::string& part, const std::optional<MeanScore>& score, Metrics& metrics) {
  if (!score) return;
  metrics.emplace_back("eval/" + part + "_exact_match", score->exact);
  metrics.emplace_back("eval/" + part + "_f1", score->f1);
}

}  // namespace

SquadJobText::SquadJobText(const JobSpec& spec, const std::filesystem::path& data_folder, Reading& reading)
    : tokenizer(Vocabulary::load(data_folder / spec.data.tokenizer.wordpiece),
                spec.data.tokenizer.lowercase) {
  const auto files = expand_globs(spec.data.train, data_folder);
  for (const std::filesystem::path& file : files) training.add_training(read_squad(file), tokenizer, reading);
  if (training.questions().empty())
    throw BadData(
        fmt::format("{}: no question has an answer that is in its context", files.front().string()));
  if (training.left_out() > 0)
    reading.warn(
        fmt::format("data.train: {} of {} questions are left out, because their answers are not in their "
                    "contexts; the first is \"{}\"",
                    training.left_out(), training.left_out() + std::ssize(training.questions()),
                    training.first_left_out()));
  if (spec.evaluate.every <= 0) return;
  const auto held_out_files = expand_globs({spec.evaluate.data}, data_folder);
  warn_of_held_out_training(held_out_files, files, reading);
  held_out_data.paragraphs.emplace_back();
  for (const std::filesystem::path& file : held_out_files) add_held_out(file, *this, reading);
}

FeatureShape feature_shape(const TrainingSpec& training) {
  return {training.sequence_length, training.squad.document_stride, training.squad.query_length};
}

AnswerRules answer_rules(const SquadAnswerSpec& spec, bool version2) {
  return {spec.n_best, spec.answer_length, version2, spec.null_threshold};
}

MicroBatch squad_batch(const SquadFeatures& features, std::span<const std::int64_t> which, int length,
                       const SpecialTokens& special, bool labels) {
  MicroBatch batch;
  batch.sequences = static_cast<int>(which.size());
  batch.length = length;
  std::vector<std::int32_t> firsts, lasts;
  for (const std::int64_t feature : which) {
    const std::size_t begin = batch.input_ids.size();
    features.append(feature, special, batch.input_ids, batch.token_types);
    const std::size_t end = batch.input_ids.size(), padded = begin + static_cast<std::size_t>(length);
    batch.valid_lengths.push_back(static_cast<std::int32_t>(end - begin));
    batch.input_ids.resize(padded, special.pad);
    batch.token_types.resize(padded, 0);
    const TokenSpan answer = labels ? features.answer_positions(feature) : TokenSpan{-1, -1};
    firsts.push_back(answer.first);
    lasts.push_back(answer.last);
  }
  batch.targets[kFirstTerm] = sequence_targets(std::move(firsts), length);
  batch.targets[kLastTerm] = sequence_targets(std::move(lasts), length);
  return batch;
}

std::vector<std::span<const float>> span_scores(const MicroBatch& batch, bool unpadded,
                                                std::span<const float> predictions) {
  const RowLayout layout(batch, unpadded, {});
  const std::vector<std::int32_t> first_rows = layout.rows_of(batch.targets[kFirstTerm].positions);
  std::vector<std::span<const float>> scores;
  for (std::size_t s = 0; s < first_rows.size(); ++s)
    scores.push_back(predictions.subspan(2 * static_cast<std::size_t>(first_rows[s]),
                                         2 * static_cast<std::size_t>(batch.valid_lengths[s])));
  return scores;
}

SquadTask::SquadTask(const TrainingSpec& training, const EvaluateSpec& evaluate,
                     std::shared_ptr<const SquadJobText> text, DataRank place)
    : training_(training),
      text_(std::move(text)),
      rules_(answer_rules(evaluate.squad, text_->held_out_data.version2)),
      features_(text_->training, feature_shape(training)),
      held_out_features_(text_->held_out, feature_shape(training)),
      held_out_(make_held_out(evaluate, place)),
      batches_(training_.batch.global, place,
               [this](const SampleRange& samples) { return make_global_batch(samples); }) {}

// Questions are scored as long as all their features are among the first evaluate.sequences.
TaskBatch SquadTask::make_held_out(const EvaluateSpec& evaluate, DataRank place) {
  if (text_->held_out.questions().empty()) return {Sums(kTotals, 0.0), {}};
  std::int64_t questions = 0, features = 0;
  for (; questions < std::ssize(text_->held_out.questions()); ++questions) {
    if (held_out_features_.first_of(questions + 1) > evaluate.sequences) break;
    features = held_out_features_.first_of(questions + 1);
  }
  if (questions == 0)
    refuse_spec(fmt::format("evaluate.sequences {} is fewer than the first held-out question has",
                            evaluate.sequences));
  const auto& all = text_->held_out_data.paragraphs.front().questions;
  scored_ = {text_->held_out_data.version2, {{"", {all.begin(), all.begin() + questions}}}};
  for (const SquadQuestion& question : scored_.paragraphs.front().questions) ids_.push_back(question.id);
  const SampleRange share = share_of_held_out(features, place);
  std::vector<std::int64_t> which(static_cast<std::size_t>(share.end - share.begin));
  std::iota(which.begin(), which.end(), share.begin);
  return make_batch(held_out_features_, which, share.first, false);
}

std::int64_t SquadTask::feature_of(std::int64_t sample) const {
  const std::int64_t size = features_.size();
  const auto epoch = static_cast<std::uint64_t>(sample / size);
  return Shuffle(training_.seed, kFeatureStream | epoch, size)[sample % size];
}

TaskBatch SquadTask::make_batch(const SquadFeatures& features, std::span<const std::int64_t> which,
                                std::int64_t first_sample, bool labels) const {
  TaskBatch batch{{static_cast<double>(which.size())}, {}};
  const SpecialTokens& special = text_->tokenizer.vocabulary().special();
  const auto most = static_cast<std::size_t>(training_.batch.micro);
  for (std::size_t begin = 0; begin < which.size(); begin += most) {
    MicroBatch micro = squad_batch(features, which.subspan(begin, std::min(most, which.size() - begin)),
                                   training_.sequence_length, special, labels);
    micro.first_sample = first_sample + static_cast<std::int64_t>(begin);
    batch.micro_batches.push_back(std::move(micro));
  }
  return batch;
}

TaskBatch SquadTask::make_global_batch(const SampleRange& samples) const {
  std::vector<std::int64_t> which;
  for (std::int64_t i = samples.begin; i < samples.end; ++i) which.push_back(feature_of(i));
  return make_batch(features_, which, samples.first, true);
}

LossScales SquadTask::scales(const Sums& totals) const {
  const auto half = static_cast<float>(mean(0.5, totals[kFeatures]));
  return taught_scales(training_.distill, {half, half}, 2);
}

Metrics SquadTask::training_metrics(const Sums& totals, const LossSums& losses) const {
  const auto mean_of = [&](std::size_t first, std::size_t last) {
    return mean(0.5 * (losses[first].loss + losses[last].loss), totals[kFeatures]);
  };
  return taught_loss(training_.distill, mean_of(kFirstTerm, kLastTerm),
                     mean_of(kTaughtFirstTerm, kTaughtLastTerm));
}

std::size_t SquadTask::score_count() const {
  return static_cast<std::size_t>(held_out_features_.first_of(std::ssize(ids_))) *
         FeatureScores::count(rules_.n_best);
}

void SquadTask::score(const MicroBatch& batch, const Predictions& predictions, Sums& scores) const {
  const std::size_t count = FeatureScores::count(rules_.n_best);
  auto at = std::span(scores).subspan(static_cast<std::size_t>(batch.first_sample) * count);
  for (const std::span<const float> one : span_scores(batch, training_.unpadded, predictions.values)) {
    FeatureScores::write(one, rules_.n_best, at.first(count));
    at = at.subspan(count);
  }
}

std::vector<SquadAnswers> SquadTask::answers(const Sums& scores) const {
  const std::size_t count = FeatureScores::count(rules_.n_best);
  std::vector<SquadAnswers> answers;
  for (std::int64_t question = 0; question < std::ssize(ids_); ++question) {
    std::vector<FeatureScores> of_question;
    for (std::int64_t f = held_out_features_.first_of(question);
         f < held_out_features_.first_of(question + 1); ++f)
      of_question.emplace_back(std::span(scores).subspan(static_cast<std::size_t>(f) * count, count));
    answers.push_back(answer_question(held_out_features_, question, of_question, rules_));
  }
  return answers;
}

SquadScores SquadTask::scores_of(const std::vector<SquadAnswers>& answers) const {
  SquadPredictions predictions;
  NullOdds odds{.threshold = std::numeric_limits<double>::infinity()};
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    predictions[ids_[i]] = answers[i].answer;
    odds.by_id.emplace_back(ids_[i], answers[i].null_odds);
  }
  return scored_.version2 ? score_squad_v2(scored_, predictions, &odds)
                          : score_squad_v1(scored_, predictions);
}

Findings SquadTask::findings(const Evaluation& held_out) const {
  const std::vector<SquadAnswers> found = answers(held_out.scores);
  const SquadScores scores = scores_of(found);
  Metrics metrics{{"eval/exact_match", scores.all.exact},
                  {"eval/f1", scores.all.f1},
                  {"eval/sequences_per_second", held_out.totals[kFeatures] / held_out.seconds}};
  add_part("has_answer", scores.has_answer, metrics);
  add_part("no_answer", scores.no_answer, metrics);
  if (const auto& best = scores.best) {
    metrics.emplace_back("eval/best_exact_match", best->exact);
    metrics.emplace_back("eval/best_f1", best->f1);
    metrics.emplace_back("eval/best_f1_threshold", best->f1_threshold);
  }
  AnswerFiles files = answer_files(ids_, found);
  std::vector<TaskFile> all{{"predictions.json", std::move(files.predictions)},
                            {"nbest_predictions.json", std::move(files.n_best)}};
  if (rules_.may_be_none) all.push_back({"null_odds.json", std::move(files.null_odds)});
  return {std::move(metrics), std::move(all)};
}

void check_squad(const JobSpec& spec) {
  const int query = spec.training.squad.query_length;
  for (const TrainingPhase& phase : training_phases(spec.training))
    if (phase.training.sequence_length <= query + kSquadSpecialTokens)
      refuse_spec(
          fmt::format("training.sequence_length {} leaves no room for a context behind "
                      "training.squad.query_length {} and {} special tokens",
                      phase.training.sequence_length, query, kSquadSpecialTokens));
}

TaskSource squad_task_source(const JobSpec& spec, const std::filesystem::path& data_folder, Reading& reading,
                             int data_rank, int data_size) {
  const auto text = std::make_shared<const SquadJobText>(spec, data_folder, reading);
  return {
      text->tokenizer.vocabulary().size(),
      text->training.identity(),
      span_head(spec.training.distill),
      [text, evaluate = spec.evaluate, place = DataRank{data_rank, data_size}](const TrainingSpec& phase) {
        return std::make_unique<SquadTask>(phase, evaluate, text, place);
      },
      {},
      [text](std::int64_t count) { return identity_of(text->tokenizer.vocabulary(), count); }};
}

}  // namespace podium
