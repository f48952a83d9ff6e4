// The program without a coordinator: help, usage mistakes, validation, completion.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "common/base/file.h"
#include "tests/cli/podium_program.h"

namespace podium {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

const char* kGood = "version: 1\nname: a\ncommand: [sleep, \"1\"]\nresources: {devices: 1}\n";

class Offline : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) {
    write_file_atomic(program_.folder() / name, text);
    return name;
  }

  test::PodiumProgram program_;
};

TEST_F(Offline, EverySubcommandHasHelpWithExamples) {
  for (const char* command :
       {"submit", "validate",    "list",     "show",       "follow",   "logs",   "cancel",   "metrics",
        "series", "hold",        "release",  "requeue",    "priority", "extend", "accounts", "events",
        "nodes",  "experiments", "simulate", "completion", "version",  "mlperf"}) {
    const auto ran = program_.run({command, "--help"});
    EXPECT_EQ(ran.status, 0) << command;
    EXPECT_THAT(ran.out, HasSubstr("Examples:\n")) << command;
    EXPECT_THAT(ran.out, HasSubstr(std::string("podium ") + command)) << command;
  }
}

// "A subcommand is required" was all it said.
TEST_F(Offline, AMistypedCommandIsSaidWithASuggestion) {
  EXPECT_EQ(
      program_.run({"sumbit", "x.yaml"}).err,
      "podium: there is no command \"sumbit\"; did you mean \"submit\"? podium --help lists them all\n");
  EXPECT_EQ(program_.run({"--json", "qqqqqq"}).err,
            "podium: there is no command \"qqqqqq\"; podium --help lists them all\n");
  EXPECT_EQ(program_.run({"accounts", "sett", "nlp"}).err,
            "podium: there is no command \"sett\"; did you mean \"set\"? podium accounts --help lists them "
            "all\n");
  EXPECT_EQ(
      program_.run({"nodes", "darin", "node-1"}).err,
      "podium: there is no command \"darin\"; did you mean \"drain\"? podium nodes --help lists them all\n")
      << "the word stands where a node's name may";
}

// "The following arguments were not expected: --stat running"
TEST_F(Offline, AMistypedOptionIsSaidWithASuggestion) {
  EXPECT_EQ(
      program_.run({"list", "--stat", "running"}).err,
      "podium: there is no option \"--stat\"; did you mean \"--state\"? podium list --help lists them all\n");
  EXPECT_EQ(program_.run({"nodes", "drain", "node-1", "--untill=+2h"}).err,
            "podium: there is no option \"--untill\"; did you mean \"--until\"? podium nodes drain --help "
            "lists them all\n");
  EXPECT_EQ(
      program_.run({"list", "--jsno"}).err,
      "podium: there is no option \"--jsno\"; did you mean \"--json\"? podium list --help lists them all\n")
      << "an option of every command";
  EXPECT_EQ(program_.run({"submit", "--prioritty", "3"}).err,
            "podium: there is no option \"--prioritty\"; \"priority\" is a key of the spec. podium submit "
            "--help lists them all\n");
  EXPECT_EQ(
      program_.run({"submit", "--name", "x"}).err,
      "podium: there is no option \"--name\"; \"name\" is a key of the spec. podium submit --help lists "
      "them all\n")
      << "and not of a part of it";
  EXPECT_EQ(program_.run({"cancel", "--experimnt", "old"}).err,
            "podium: there is no option \"--experimnt\"; did you mean \"--experiment\"? podium cancel --help "
            "lists them all\n")
      << "its value stands where a job may";
  EXPECT_EQ(program_.run({"list", "--qqqqqq"}).err,
            "podium: there is no option \"--qqqqqq\". podium list --help lists them all\n");
}

TEST_F(Offline, AMistypedNestedCommandIsSaidWithASuggestion) {
  for (const char* command : {"accounts", "experiments"}) {
    const std::string name = command;
    EXPECT_EQ(program_.run({name, "lst"}).err,
              "podium: there is no command \"lst\"; did you mean \"list\"? podium " + name +
                  " --help lists them all\n");
  }
}

// "Could not convert: JOB = abc"
TEST_F(Offline, WhatIsNoJobsNumberIsSaid) {
  for (const char* command : {"show", "why", "follow", "logs", "events", "metrics", "cancel", "hold"})
    for (const char* word : {"abc", "1.5", "99999999999999999999"})
      EXPECT_THAT(
          program_.run({command, word}).err,
          HasSubstr("\"" + std::string(word) + "\" is not the number of a job; podium list shows them"))
          << command;
}

TEST_F(Offline, NumbersThatAreNoneAreRefusedAlikeEverywhere) {
  const std::string job = "\"abc\" is not the number of a job; podium list shows them";
  const std::string experiment = "\"abc\" is not the number of an experiment";
  const std::vector<std::pair<std::vector<std::string>, std::string>> commands{
      {{"ledger", "abc"}, job},
      {{"ledger", "--experiment", "abc"}, experiment},
      {{"bisect", "abc", "2", "-m", "x"}, job},
      {{"bisect", "1", "abc", "-m", "x"}, job},
      {{"compare", "1", "2", "--base", "abc"}, job},
      {{"study", "abc"}, experiment}};
  for (const auto& [command, sentence] : commands)
    EXPECT_THAT(program_.run(command).err, HasSubstr(sentence)) << ::testing::PrintToString(command);
}

TEST_F(Offline, UsageMistakesExitWithTwo) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{},
                                             {"bogus"},
                                             {"list", "--bogus"},
                                             {"show"},
                                             {"show", "twelve"},
                                             {"list", "--limit", "0"},
                                             {"accounts", "set", "nlp", "--quota", "gpu"},
                                             {"validate", "missing.yaml"},
                                             {"completion", "tcsh"},
                                             {"list", "--coordinator", "nonsense"},
                                             {"logs", "1", "--stdout", "--stderr"},
                                             {"logs", "1", "--tail", "many"},
                                             {"ledger", "--from", "2026-02-30"},
                                             {"ledger", "--from", "1960-01-01"},
                                             {"list", "--token-file", "missing.token"}}) {
    const auto ran = program_.run(arguments);
    EXPECT_EQ(ran.status, 2) << ::testing::PrintToString(arguments) << ran.err;
    EXPECT_NE(ran.err, "") << ::testing::PrintToString(arguments);
    EXPECT_EQ(ran.out, "") << ::testing::PrintToString(arguments);
  }
}

TEST_F(Offline, NoCoordinatorIsOneSentenceAndThree) {
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"list"}, {"follow", "1"}, {"cancel", "1"}}) {
    std::vector<std::string> arguments = {"--coordinator", "http://127.0.0.1:1"};
    arguments.insert(arguments.end(), command.begin(), command.end());
    const auto ran = program_.run(arguments);
    EXPECT_EQ(ran.status, 3);
    EXPECT_THAT(ran.err, HasSubstr("cannot reach the coordinator"));
    EXPECT_THAT(ran.err, HasSubstr("Is it running?"));
  }
}

TEST_F(Offline, ValidateAcceptsGoodSpecs) {
  const auto ran = program_.run({"validate", write("good.yaml", kGood)});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out, "good.yaml is valid: 1 job\n");
}

TEST_F(Offline, ValidateTellsTheReplicasOfAService) {
  const std::string service = "version: 1\nname: a\ntask: serve\nmodel: {init: m}\nresources: {devices: 1}\n";
  EXPECT_EQ(program_.run({"validate", write("one.yaml", service)}).out,
            "one.yaml is valid: a service, replicas: 1\n");
  EXPECT_EQ(program_.run({"validate", write("more.yaml", service + "replicas: {min: 2, max: 4}\n")}).out,
            "more.yaml is valid: a service, replicas: 2 to 4\n");
}

TEST_F(Offline, ValidateShowsEveryProblem) {
  const auto ran =
      program_.run({"validate", write("bad.yaml", std::string(kGood) + "lable: {}\npriority: 101\n"),
                    write("good.yaml", kGood)});
  EXPECT_EQ(ran.status, 4);
  EXPECT_EQ(ran.out, "good.yaml is valid: 1 job\n");
  EXPECT_EQ(ran.err,
            "bad.yaml:5:1: unknown key \"lable\"; did you mean \"labels\"?\n"
            "bad.yaml:6:11: priority must be at most 100, not 101\n"
            "bad.yaml: 2 problems\n");
}

TEST_F(Offline, ValidateWarnsOfHeldOutTextThatIsTrainedOn) {
  const std::string spec =
      "version: 1\nname: t\nmodel: {preset: bert-mini}\n"
      "data: {train: \"corpus/*.txt\", tokenizer: {wordpiece: v.txt}}\n"
      "training: {optimizer: {lr: 1e-3}, schedule: {steps: 10}, batch: {global: 8, micro: 2}}\n"
      "resources: {devices: 2}\nevaluate: {every: 5 steps, data: corpus/heldout.txt}\n";
  const auto ran = program_.run({"validate", write("spec.yaml", spec)});
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out, ::testing::StartsWith("spec.yaml is valid: 1 job\n  warning: evaluate.data (corpus/"));
  const json verdict = json::parse(program_.run({"validate", "--json", write("spec.yaml", spec)}).out);
  EXPECT_EQ(verdict["warnings"].size(), 1u);
}

TEST_F(Offline, ValidateSpeaksJson) {
  const json good = json::parse(program_.run({"validate", "--json", write("good.yaml", kGood)}).out);
  EXPECT_EQ(good["valid"], true);
  EXPECT_EQ(good["jobs"], 1);
  EXPECT_EQ(good["normalised"]["priority"], 50);
  const json bad = json::parse(
      program_.run({"validate", "--json", write("bad.yaml", std::string(kGood) + "lable: {}\n")}).out);
  EXPECT_EQ(bad["valid"], false);
  EXPECT_EQ(bad["errors"][0]["where"], "bad.yaml:5:1");
  EXPECT_EQ(bad["errors"][0]["pointer"], "/lable");
}

TEST_F(Offline, Version) {
  EXPECT_THAT(program_.run({"version"}).out, ::testing::MatchesRegex("podium [0-9]+\\.[0-9]+\\.[0-9]+\n"));
  EXPECT_TRUE(json::parse(program_.run({"version", "--json"}).out).contains("version"));
}

TEST_F(Offline, CompletionKnowsCommandsAndOptions) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const auto ran = program_.run({"completion", shell});
    EXPECT_EQ(ran.status, 0) << shell;
    for (const char* word : {"submit", "experiments", "completion", "follow", "token-file", "experiment"})
      EXPECT_THAT(ran.out, HasSubstr(word)) << shell;
  }
}

TEST_F(Offline, BashCompletionCompletes) {
  write("completion.bash", program_.run({"completion", "bash"}).out);
  const auto complete = [&](const std::string& line) {
    const std::string out = (program_.folder() / "completed").string();
    const std::string script =
        "cd " + program_.folder().string() + " && source ./completion.bash && COMP_WORDS=(" + line +
        ") && COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) && _podium && echo \"${COMPREPLY[*]}\" > " + out;
    EXPECT_EQ(std::system(("bash -c '" + script + "'").c_str()), 0) << line;
    return read_file(out);
  };
  EXPECT_EQ(complete("podium sub"), "submit\n");
  EXPECT_EQ(complete("podium list --so"), "--sort\n");
  EXPECT_EQ(complete("podium --json list --coord"), "--coordinator\n");
  EXPECT_EQ(complete("podium completion z"), "zsh\n");
  EXPECT_EQ(complete("podium validate completion"), "completion.bash\n");
}

}  // namespace
}  // namespace podium
