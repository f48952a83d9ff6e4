// The command lines of Slurm's programs, and what is read from what they print.
#include "coordinator/pilots/slurm_commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace podium {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

SlurmOptions gpu_options() {
  SlurmOptions options;
  options.partition = "gpu";
  options.gpus = 8;
  options.nodes = 4;
  options.shared = "/lustre/podium";
  options.data = "/lustre/it's data";
  options.home = "/tmp/podium-7";
  options.token_file = "/home/podium/agent.token";
  options.coordinator = "https://head:7070";
  options.job_name = "podium-0123456789ab";
  return options;
}

TEST(SlurmCommands, SbatchNamesTheJobAndItsAttemptAndNoSecret) {
  EXPECT_THAT(
      sbatch_command(gpu_options(), {{12}, 3, 2, 90min}),
      ElementsAre("sbatch", "--parsable", "--no-requeue", "--exclusive", "--mem=0", "--ntasks-per-node=1",
                  "--partition=gpu", "--job-name=podium-0123456789ab", "--comment=podium:12:3", "--nodes=2",
                  "--time=90", "--signal=B:TERM@120", "--chdir=/lustre/podium",
                  "--output=/lustre/podium/podium-slurm-%j.log", "--gres=gpu:8"));
}

TEST(SlurmCommands, SbatchOfCpuNodesNamesTheAccountAndNoGpus) {
  SlurmOptions options = gpu_options();
  options.gpus = 0;
  options.account = "nlp";
  const auto command = sbatch_command(options, {{12}, 3, 2, 90min + 1ms});
  EXPECT_THAT(command, Contains("--account=nlp"));
  EXPECT_THAT(command, Contains("--time=91"));
  EXPECT_THAT(command, Not(Contains(HasSubstr("--gres"))));
}

TEST(SlurmCommands, TheScriptQuotesEveryWordAndLeavesTimeToLeave) {
  SlurmOptions options = gpu_options();
  options.ca_file = "/etc/ca.pem";
  const std::string script = allocation_script(options, {{12}, 3, 2, 90min});
  EXPECT_THAT(script,
              HasSubstr("'podium-agent' '--join' '--lent-for' '1h27m' '--alone-for' '5m' '--coordinator' "
                        "'https://head:7070' "
                        "'--token-file' '/home/podium/agent.token' '--home' '/tmp/podium-7' '--shared' "
                        "'/lustre/podium' '--data' '/lustre/it'\\''s data' '--cpu-slots' '0' '--ca-file' "
                        "'/etc/ca.pem' &\n"));
  EXPECT_THAT(script, HasSubstr("trap 'scancel --signal=URG \"$SLURM_JOB_ID\"' TERM\n"));
}

TEST(SlurmCommands, CpuSlotsAreOfferedWhereThereAreNoGpus) {
  SlurmOptions options = gpu_options();
  options.gpus = 0;
  options.cpu_slots = 6;
  EXPECT_THAT(allocation_script(options, {}), HasSubstr("'--cpu-slots' '6'"));
}

TEST(SlurmCommands, SqueueAsksForThisClustersJobsAlone) {
  EXPECT_THAT(squeue_command(gpu_options(), 1000),
              ElementsAre("squeue", "--noheader", "--all", "--states=all", "--user=1000",
                          "--name=podium-0123456789ab", "--format=%i|%T|%D|%k|%r"));
  EXPECT_THAT(scancel_command(17), ElementsAre("scancel", "17"));
}

TEST(SlurmCommands, ReadsTheRowsOfSqueue) {
  EXPECT_THAT(read_squeue("17|PENDING|2|podium:12:3|ReqNodeNotAvail, UnavailableNodes:n[1-2]\n"
                          "18|RUNNING|1|podium:13:1|None\n"),
              ElementsAre(SlurmJob{17, "PENDING", 2, {12}, 3, "ReqNodeNotAvail, UnavailableNodes:n[1-2]"},
                          SlurmJob{18, "RUNNING", 1, {13}, 1, "None"}));
}

TEST(SlurmCommands, LeavesOutRowsThatAreNotOfPilots) {
  for (const char* row :
       {"", "\n", "17", "17|PENDING|2|(null)|None", "x|PENDING|2|podium:1:1|None",
        "17|PENDING|two|podium:1:1|None", "17|PENDING|2|podium:1|None", "17|PENDING|2|podium:a:1|None",
        "17|PENDING|2|podium:1:|None", "-17|PENDING|2|podium:1:1|None",
        "99999999999999999999|PENDING|2|podium:1:1|None", "17|PENDING|2|other:1:1|None"})
    EXPECT_THAT(read_squeue(row), IsEmpty()) << row;
}

TEST(SlurmCommands, ReadsTheNumberThatSbatchNames) {
  EXPECT_EQ(read_sbatch("17\n"), 17);
  EXPECT_EQ(read_sbatch("18;cluster\n"), 18);
  EXPECT_EQ(read_sbatch(""), std::nullopt);
  EXPECT_EQ(read_sbatch("Submitted batch job 17"), std::nullopt);
}

TEST(SlurmCommands, KnowsWhichStatesAreOver) {
  const auto in = [](const char* state) { return SlurmJob{1, state}; };
  for (const char* state : {"PENDING", "CONFIGURING", "RUNNING", "COMPLETING", "SUSPENDED"}) {
    EXPECT_TRUE(in(state).lives()) << state;
    EXPECT_FALSE(in(state).over()) << state;
  }
  for (const char* state :
       {"COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "PREEMPTED", "OUT_OF_MEMORY", "DEADLINE"}) {
    EXPECT_FALSE(in(state).lives()) << state;
    EXPECT_TRUE(in(state).over()) << state;
  }
  for (const char* state : {"NODE_FAIL", "BOOT_FAIL"}) {  // what ran there may run on
    EXPECT_FALSE(in(state).lives()) << state;
    EXPECT_FALSE(in(state).over()) << state;
  }
}

TEST(SlurmCommands, NamesHoldNothingThatAnOptionCouldMean) {
  EXPECT_TRUE(is_slurm_name("gpu-a100_80.0"));
  for (const char* name : {"", "-x", "a b", "a;b", "a,b", "a%j", "a'b", "a\nb"})
    EXPECT_FALSE(is_slurm_name(name)) << name;
  EXPECT_FALSE(is_slurm_name(std::string(64, 'a')));
}

TEST(SlurmCommands, AnAllocationLastsTwiceAsLongAsItsJobAsFarAsThatIsAllowed) {
  SlurmOptions options = gpu_options();
  options.walltime = 24h;
  EXPECT_EQ(walltime_for(options, 1h), 2h + 2min + 1min + 10min);
  EXPECT_EQ(walltime_for(options, 20h), 24h);
  EXPECT_EQ(longest_job(options), 24h - 13min);
}

}  // namespace
}  // namespace podium
