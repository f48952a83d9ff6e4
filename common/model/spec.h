// A user's request with every default filled in. schemas/experiment.schema.json describes the YAML form;
// common/spec reads, checks and normalises it. The JSON form written here is itself a valid spec, and
// normalising it again changes nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/base/time.h"
#include "common/model/classify_spec.h"
#include "common/model/compression_spec.h"
#include "common/model/job.h"
#include "common/model/mlperf_spec.h"
#include "common/model/origin.h"
#include "common/model/program_spec.h"
#include "common/model/serve_spec.h"

namespace podium {

enum class ModelFamily { bert, gpt, llama };
enum class TrainingTask { pretrain, squad, classify, lm };
enum class Precision { fp32, bf16, fp16 };
enum class OptimizerKind { adamw, lamb };
enum class Decay { constant, linear, cosine, poly };
// What backward recomputes instead of storing it: nothing, the attention probabilities, or everything within
// a layer.
enum class Recompute { none, selective, full };
// How many processes a command is started as: one for each device, or one on each node, which drives all the
// job's devices there.
enum class Processes { device, node };

struct ModelSpec {
  ModelFamily family = ModelFamily::bert;
  std::string preset;  // "" when the shape is explicit
  int layers = 0;
  int hidden = 0;
  int heads = 0;
  int key_value_heads = 0;  // llama: a divisor of heads; 0: as many as heads
  int intermediate = 0;
  int vocab = 0;  // 0: the tokenizer's size, padded to a multiple of 8
  int max_positions = 0;
  double dropout = 0.1;            // after embeddings and before each residual
  double attention_dropout = 0.1;  // on attention probabilities
  double initializer_range = 0.02;
  double rope_theta = 10000;  // llama: the base of the angles by which positions turn queries and keys
  // What the first weights are of; neither: they are drawn. A path is that of a Hugging Face folder, of a
  // checkpoint, or of a folder of checkpoints, and relative to the data folder.
  std::string init;
  std::optional<JobCheckpoint> init_job;
  std::string init_xxh3;  // Origin::xxh3 that the checkpoint of either must have; "": any

  bool tie_embeddings = false;  // llama: the word embeddings score tokens, as bert's and gpt's always do

  int key_heads() const { return key_value_heads > 0 ? key_value_heads : heads; }
};

struct TokenizerSpec {
  std::string wordpiece;  // path of vocab.txt; "" when bpe
  bool lowercase = true;  // wordpiece only
  std::string bpe_vocab;  // paths of vocab.json and merges.txt; "" when wordpiece
  std::string bpe_merges;
};

struct DataSpec {
  std::vector<std::string> train;  // paths or globs, relative to the node's data folder
  TokenizerSpec tokenizer;
  std::vector<double> weights;  // of each of `train`, which are blended; empty: read one after another
};

struct OptimizerSpec {
  OptimizerKind name = OptimizerKind::adamw;
  double lr = 0;
  double weight_decay = 0.01;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-6;  // of BERT's recipes; common/spec takes 1e-8 for gpt with adamw, as Megatron-LM
  double clip = 1.0;      // global gradient norm; 0: none
};

struct ScheduleSpec {
  std::int64_t steps = 0;
  double warmup = 0;  // a fraction of steps when below 1, else a number of steps
  Decay decay = Decay::linear;
  double power = 1.0;   // poly only
  double min_lr = 0.0;  // the rate decay ends at
};

struct BatchSpec {
  std::int64_t global = 0;  // sequences an optimizer step
  std::int64_t micro = 0;   // sequences a device handles at once
};

struct MaskingSpec {
  double probability = 0.15;
  int max_predictions = 0;  // 0: by sequence length, as in BERT's recipe (20 at 128, 80 at 512)
  bool whole_word = false;
};

// What a question answering task sees of a question and its context, in tokens.
struct SquadSpec {
  int document_stride = 128;  // from the beginning of a span of the context to the next
  int query_length = 64;      // of a question
};

// How answers are chosen from the scores of a question's spans.
struct SquadAnswerSpec {
  int n_best = 20;
  int answer_length = 30;     // tokens
  double null_threshold = 0;  // SQuAD 2.0: none is the answer if it scores so much higher than the best text
};

// A later phase of a training, such as BERT's second phase at sequence length 512. Its schedule starts anew,
// at its own peak learning rate.
struct PhaseSpec {
  ScheduleSpec schedule;
  double lr = 0;
  BatchSpec batch;
  int sequence_length = 0;
  int max_predictions = 0;  // as in MaskingSpec
};

struct TrainingSpec {
  TrainingTask task = TrainingTask::pretrain;
  Precision precision = Precision::fp32;
  bool fp8 = false;                      // the layers' dense products in FP8, the rest in `precision`
  bool stochastic_rounding = false;      // of weights to the 16 bits of `precision`
  std::optional<QuantiseSpec> quantise;  // the layers' products as inference in 8 bits computes them
  Sparsity sparse = Sparsity::none;      // of the layers' products
  std::optional<DistillSpec> distill;    // classify and squad: a teacher's scores beside the labels
  OptimizerSpec optimizer;
  ScheduleSpec schedule;
  BatchSpec batch;
  int sequence_length = 128;
  MaskingSpec masking;
  double short_sequences = 0.1;  // bert, pretrain: the share that is shorter, by a random length
  SquadSpec squad;
  ClassifySpec classify;
  std::uint64_t seed = 1;
  std::int64_t log_every = 10;  // steps
  Recompute recompute = Recompute::none;
  int recompute_layers = 0;       // full: so many of each pipeline stage's (or chunk's) layers; 0: all
  bool unpadded = false;          // bert: compute on valid tokens only
  bool timed_products = false;    // gpu: algorithms of products are chosen by time, and kept in checkpoints
  std::vector<PhaseSpec> phases;  // after the first, which the fields above describe; optimizer state is kept
};

struct ParallelSpec {
  int tensor = 1;
  int pipeline = 1;                    // data parallel = devices / (tensor × pipeline)
  int interleave = 1;                  // virtual stages a pipeline rank holds
  bool sequence = false;               // Megatron's sequence parallelism, within the tensor group
  bool distributed_optimizer = false;  // ZeRO-1: optimizer state sharded over the data group
};

struct ResourcesSpec {
  int devices = 1;           // of an elastic job the fewest
  int max_devices = 0;       // an elastic job's most; 0: it always runs on `devices`
  int per_node = 0;          // devices of this job a node holds; 0: as many as fit
  std::string kind = "gpu";  // gpu | cpu
  Duration walltime = std::chrono::hours(24);
  std::map<std::string, std::string> nodes;  // labels that its nodes must have
  Within within = Within::anywhere;
};

inline constexpr char kNoBest[] = "none";  // of checkpoint.best

struct CheckpointSpec {
  std::int64_t every = 0;  // steps; 0: only at the end and on SIGTERM
  int keep = 3;
  bool begin_anew = false;  // where no checkpoint is whole, instead of failing
  std::string best;         // the metric by which the best one is kept as well; "" for none
};

struct EvaluateSpec {
  std::int64_t every = 0;         // steps; 0: never
  std::string data;               // path or glob of held-out text
  std::int64_t sequences = 1024;  // at most this many held-out sequences
  SquadAnswerSpec squad;
};

// The clock stops when `metric` reaches the threshold; exactly one of the two bounds is set.
struct TargetSpec {
  std::string metric;
  std::optional<double> at_least;
  std::optional<double> at_most;

  bool reached(double value) const { return at_least ? value >= *at_least : value <= *at_most; }
};

// The files of a command: a folder that is packed at submission, either as it is on disk or as a git commit
// of the repository has it.
struct CodeSpec {
  std::string folder;    // relative to the spec's file
  std::string git;       // commit, tag or branch of the spec's repository; "": the files as they are
  std::string commit;    // that `git` meant when the folder was packed, in full
  std::string snapshot;  // sha256 of the packed folder; "" until it is packed
};

// One job: every parameter fixed.
struct JobSpec {
  std::string name;
  std::map<std::string, std::string> labels;
  ModelSpec model;
  DataSpec data;
  TrainingSpec training;
  ParallelSpec parallel;
  ResourcesSpec resources;
  CheckpointSpec checkpoint;
  EvaluateSpec evaluate;
  std::optional<TargetSpec> target;
  std::optional<MlperfSpec> mlperf;  // measured as MLPerf measures
  int max_restarts = 5;
  StopSpec stop;  // of a training and of a command
  int priority = 50;
  std::string account = "default";  // "nlp/bert"
  std::vector<Dependency> after;    // jobs that must end before this one may start
  std::optional<JobId> resume;      // starts from the newest checkpoint of that job
  std::vector<std::string>
      command;  // any program instead of podium-worker; then model, data, training are unused
  // A replica of a service instead of a training: of the sections of a training it has model.init alone.
  std::optional<ServeSpec> serve;

  // Of a command; texts may hold the placeholders of common/model/program.h.
  std::string workdir;  // absolute, or relative to the code; "": the code, or the task's folder
  std::map<std::string, std::string> env;
  Processes processes = Processes::device;
  Launcher launcher = Launcher::none;  // torchrun: the command is its arguments
  MetricsSpec metrics;
  std::map<std::string, nlohmann::json> parameters;  // text, numbers and booleans
  std::optional<CodeSpec> code;
  std::optional<ContainerSpec> container;  // its texts and those of inputs may hold placeholders, too
  std::vector<InputSpec> inputs;
  std::vector<std::string> outputs;  // globs below the working folder, of what is kept when the job ends

  bool trains() const { return command.empty() && !serve; }
};

nlohmann::json after_json(const std::vector<Dependency>& after);
std::vector<Dependency> after_from(const nlohmann::json& json);

nlohmann::json to_json(const JobSpec& spec);
// Reads what to_json(JobSpec) or normalisation wrote. It also reads older forms, without phases,
// recomputation, 8-bit products and some keys of layouts, which a coordinator's store may still hold. Throws
// nlohmann::json::exception or std::invalid_argument naming the field on anything else.
JobSpec job_spec_from_json(const nlohmann::json& json);

std::string_view to_string(ModelFamily value);
std::string_view to_string(TrainingTask value);
std::string_view to_string(Precision value);
std::string_view to_string(OptimizerKind value);
std::string_view to_string(Decay value);
std::string_view to_string(Recompute value);
std::string_view to_string(Processes value);

}  // namespace podium
