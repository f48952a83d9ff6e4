// Trainings that learn from a teacher, by real worker processes: what a student that is its teacher still has
// to learn, every layout, runs that are killed, and what is no teacher.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <csignal>

#include "tests/worker/tasks/classify_jobs.h"
#include "tests/worker/tasks/squad_jobs.h"
#include "worker/checkpoint/manifest.h"
#include "worker/train/pinned_origin.h"

namespace podium {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;

constexpr std::int64_t kTeacherSteps = 40;

// A job for the task that has a teacher, or is it.
JobSpec job_for(TrainingTask task, std::int64_t steps) {
  JobSpec spec = task == TrainingTask::squad ? questions() : colours();
  spec.training.schedule = {.steps = steps, .warmup = 0};
  spec.training.unpadded = task == TrainingTask::squad;
  spec.evaluate.every = 0;
  return spec;
}

void write_data(const WorkerJob& job) {
  if (job.launch.spec.training.task == TrainingTask::squad)
    write_questions(job);
  else
    write_colours(job);
}

// The teacher of all tests of a task; its checkpoints are of every fifth step.
const WorkerJob& teacher_for(TrainingTask task) {
  static std::map<TrainingTask, WorkerJob> trained;
  const auto [found, is_new] = trained.try_emplace(task, [&] {
    JobSpec spec = job_for(task, kTeacherSteps);
    spec.checkpoint.keep = 100;
    return spec;
  }());
  if (is_new) {
    write_data(found->second);
    EXPECT_THAT(found->second.run(1), Each(0)) << found->second.errors();
  }
  return found->second;
}

void add_teacher(const WorkerJob& job, std::int64_t step) {
  std::filesystem::create_directories(job.data() / "teacher");
  std::filesystem::copy(teacher_for(job.launch.spec.training.task).checkpoints() / checkpoint_name(step),
                        job.data() / "teacher" / checkpoint_name(step),
                        std::filesystem::copy_options::recursive);
}

// Of the teacher as it was at a step.
struct Student : WorkerJob {
  Student(const JobSpec& spec, std::int64_t teacher_step) : WorkerJob(spec) {
    write_data(*this);
    add_teacher(*this, teacher_step);
  }
};

JobSpec taught_job(TrainingTask task, std::int64_t steps) {
  JobSpec spec = job_for(task, steps);
  spec.model.init = "teacher";
  spec.training.distill = DistillSpec{.temperature = 2};
  return spec;
}

class Distilled : public testing::TestWithParam<TrainingTask> {};

// Alike without dropout, and all the loss: nothing but rounding is left.
TEST_P(Distilled, AStudentThatIsItsTeacherHasNothingToLearn) {
  JobSpec spec = taught_job(GetParam(), 1);
  spec.model.dropout = spec.model.attention_dropout = spec.training.classify.dropout = 0;
  spec.training.distill->weight = 1;
  Student alike(spec, kTeacherSteps);
  ASSERT_THAT(alike.run(1), Each(0)) << alike.errors();
  EXPECT_NEAR(alike.metric("train/distillation_loss").at(1), 0, 1e-6);
  EXPECT_EQ(alike.metric("train/loss"), alike.metric("train/distillation_loss"));
  EXPECT_LT(alike.metric("train/grad_norm").at(1), 1e-4);

  spec.training.sparse = Sparsity::two_of_four;  // the teacher is not pruned
  Student by_teacher_alone(spec, kTeacherSteps);
  ASSERT_THAT(by_teacher_alone.run(1), Each(0)) << by_teacher_alone.errors();
  EXPECT_GT(by_teacher_alone.metric("train/grad_norm").at(1), 1e-3);
  spec.training.distill->weight = 0.25;
  Student pruned(spec, kTeacherSteps);
  ASSERT_THAT(pruned.run(1), Each(0)) << pruned.errors();
  const double taught = pruned.metric("train/distillation_loss").at(1);
  EXPECT_GT(taught, 1e-4);
  spec.training.distill.reset();
  Student labels_alone(spec, kTeacherSteps);
  ASSERT_THAT(labels_alone.run(1), Each(0)) << labels_alone.errors();
  const double told = labels_alone.metric("train/loss").at(1);
  EXPECT_NEAR(pruned.metric("train/loss").at(1), 0.75 * told + 0.25 * taught, 1e-5 * told);
}

TEST_P(Distilled, WithoutWeightATeacherChangesNothing) {
  JobSpec spec = taught_job(GetParam(), 8);
  spec.training.distill->weight = 0;
  Student taught(spec, 5);
  ASSERT_THAT(taught.run(1), Each(0)) << taught.errors();
  spec.training.distill.reset();
  Student untaught(spec, 5);
  ASSERT_THAT(untaught.run(1), Each(0)) << untaught.errors();
  for (const char* const metric : {"train/loss", "train/grad_norm"})
    for (const auto& [step, value] : untaught.metric(metric))
      EXPECT_NEAR(taught.metric(metric).at(step), value, 1e-5 * value) << metric << " at step " << step;
  EXPECT_TRUE(untaught.metric("train/distillation_loss").empty());
}

TEST_P(Distilled, LayoutsAgreeToRounding) {
  JobSpec spec = taught_job(GetParam(), 6);
  spec.training.distill->weight = 0.8;
  std::map<std::string, std::map<std::int64_t, double>> expected;
  for (const char* const name : {"data1", "data2", "tensor2_sequence", "pipeline2"}) {
    Student job(spec, 10);
    ASSERT_THAT(job.run(layout_of_name(name)), Each(0)) << name << ": " << job.errors();
    for (const char* const metric : {"train/loss", "train/distillation_loss", "train/grad_norm"}) {
      const auto found = job.metric(metric);
      ASSERT_EQ(found.size(), 6U);
      for (const auto& [step, value] : expected.emplace(metric, found).first->second)
        EXPECT_NEAR(found.at(step), value, 1e-4 * value) << name << ": " << metric << " at step " << step;
    }
  }
  EXPECT_GT(expected["train/distillation_loss"].at(6), 0);
}

// For 8-bit inference with pruned weights. Where its first weights come from there are newer ones by then.
TEST_P(Distilled, AKilledRunGoesOnWithTheSameTeacherToTheBit) {
  JobSpec spec = taught_job(GetParam(), 40);
  spec.training.quantise = QuantiseSpec{};
  spec.training.sparse = Sparsity::two_of_four;
  const JobLayout layout = layout_of_name("pipeline2");
  Student unbroken(spec, 10);
  ASSERT_THAT(unbroken.run(layout), Each(0)) << unbroken.errors();
  for (const bool keeps_origin : {true, false}) {
    Student broken(spec, 10);
    broken.start(layout);
    ASSERT_TRUE(broken.wait_for_step(13)) << broken.errors();
    for (int rank = 0; rank < layout.processes; ++rank) broken.rank(rank).signal(SIGKILL);
    broken.wait();
    add_teacher(broken, kTeacherSteps);
    if (!keeps_origin) {
      ASSERT_TRUE(std::filesystem::remove(broken.checkpoints() / kOriginName));
    }
    ASSERT_THAT(broken.run(layout), Each(0)) << broken.errors();
    EXPECT_EQ(broken.tensors(40), unbroken.tensors(40)) << keeps_origin;
    EXPECT_EQ(broken.metric("train/distillation_loss").at(40),
              unbroken.metric("train/distillation_loss").at(40));
  }
}

INSTANTIATE_TEST_SUITE_P(Tasks, Distilled, testing::Values(TrainingTask::classify, TrainingTask::squad),
                         [](const auto& tested) { return std::string(to_string(tested.param)); });

class NoTeacher : public testing::Test {
 protected:
  static void expect_refused(WorkerJob& job, const std::string& why, int processes = 1) {
    EXPECT_THAT(job.run(processes), Each(static_cast<int>(WorkerExit::bad_spec)));
    EXPECT_THAT(job.errors(), HasSubstr(why));
    EXPECT_TRUE(job.metric("train/loss").empty());
  }
};

// Its head would be drawn: of another task, or for other labels.
TEST_F(NoTeacher, IsWhatHasNoHeadForTheTask) {
  const JobSpec spec = taught_job(TrainingTask::classify, 4);
  WorkerJob of_questions(spec);
  write_colours(of_questions);
  JobSpec asking = job_for(TrainingTask::squad, 5);
  asking.data.tokenizer = spec.data.tokenizer;
  asking.training.unpadded = false;
  WorkerJob other(asking);
  write_questions(other);
  write_colours(other);  // the same vocabulary
  ASSERT_THAT(other.run(1), Each(0)) << other.errors();
  std::filesystem::copy(other.checkpoints(), of_questions.data() / "teacher",
                        std::filesystem::copy_options::recursive);
  expect_refused(of_questions,
                 "it has no bert.pooler.dense.weight, bert.pooler.dense.bias, classifier.weight", 2);

  Student of_other_labels(spec, 5);
  std::string text = read_file(of_other_labels.data() / "train.tsv");
  for (std::size_t at = 0; (at = text.find("\tred", at)) != std::string::npos;)
    text.replace(at, 4, "\tcrimson");
  write_file_atomic(of_other_labels.data() / "train.tsv", text);
  expect_refused(of_other_labels, "it has no classifier.weight, classifier.bias for it");
}

TEST_F(NoTeacher, IsOfValuesOrOfTokens) {
  JobSpec spec = colour_counts(4);
  spec.training.distill = DistillSpec{};
  WorkerJob values(spec);
  write_counts(values);
  expect_refused(values,
                 "training.distill is for the tasks classify, by classes, and squad, not for classify");
  spec = tiny_job(4);
  spec.training.distill = DistillSpec{};
  WorkerJob tokens(spec);
  expect_refused(tokens, "not for pretrain");
}

}  // namespace
}  // namespace podium
