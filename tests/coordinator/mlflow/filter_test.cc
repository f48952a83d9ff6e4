#include "coordinator/mlflow/filter.h"

#include <gtest/gtest.h>

namespace podium::mlflow {
namespace {

using Texts = std::vector<std::string>;

struct Case {
  std::string text;
  std::vector<Condition> conditions;
};

const RunField kMetric = RunField::metric, kParam = RunField::param, kTag = RunField::tag;

TEST(MlflowFilter, ReadsWhatItsClientsWrite) {
  const std::vector<Case> cases{
      {"", {}},
      {"   ", {}},
      {"metrics.loss < 0.5", {{kMetric, "loss", Compare::less, 0.5}}},
      {"metric.loss<=-1e-3", {{kMetric, "loss", Compare::at_most, -1e-3}}},
      {"metrics.a.b/c >= 2", {{kMetric, "a.b/c", Compare::at_least, 2.0}}},
      {"metrics.`my loss` > 1", {{kMetric, "my loss", Compare::more, 1.0}}},
      {"metrics.\"my loss\" != .5", {{kMetric, "my loss", Compare::not_equal, 0.5}}},
      {"params.lr = '0.01'", {{kParam, "lr", Compare::equal, "0.01"}}},
      {"param.lr = \"0.01\"", {{kParam, "lr", Compare::equal, "0.01"}}},
      {"parameters.model LIKE 'b%'", {{kParam, "model", Compare::like, "b%"}}},
      {"parameter.model not_a_word 'x'", {}},
      {"tags.`mlflow.parentRunId` = 'x'", {{kTag, "mlflow.parentRunId", Compare::equal, "x"}}},
      {"tags.mlflow.parentRunId ilike 'X'", {{kTag, "mlflow.parentRunId", Compare::like_any_case, "X"}}},
      {"status = 'FINISHED'", {{RunField::status, "", Compare::equal, "FINISHED"}}},
      {"attributes.status != 'FAILED'", {{RunField::status, "", Compare::not_equal, "FAILED"}}},
      {"attr.start_time > 1700000000000",
       {{RunField::started, "", Compare::more, std::int64_t{1700000000000}}}},
      {"run.end_time <= 1.5", {{RunField::ended, "", Compare::at_most, 1.5}}},
      {"Created > 5", {{RunField::started, "", Compare::more, std::int64_t{5}}}},
      {"`Run Name` = 'a'", {{RunField::name, "", Compare::equal, "a"}}},
      {"attribute.\"run name\" = 'a'", {{RunField::name, "", Compare::equal, "a"}}},
      {"run_id IN ('a', \"b\")", {{RunField::run_id, "", Compare::among, Texts{"a", "b"}}}},
      {"run_id not in ('a')", {{RunField::run_id, "", Compare::not_among, Texts{"a"}}}},
      {"dataset.name = 'wiki'", {{RunField::dataset_name, "", Compare::equal, "wiki"}}},
      {"dataset.name IN ('wiki', 'books')",
       {{RunField::dataset_name, "", Compare::among, Texts{"wiki", "books"}}}},
      {"dataset.digest in ('a')", {{RunField::dataset_digest, "", Compare::among, Texts{"a"}}}},
      {"dataset.context NOT IN ('train')",
       {{RunField::dataset_context, "", Compare::not_among, Texts{"train"}}}},
      {"`metrics`.loss < 1", {{kMetric, "loss", Compare::less, 1.0}}},
      {"\"params\".`a b` = 'x'", {{kParam, "a b", Compare::equal, "x"}}},
      {"`attributes`.status = 'FAILED'", {{RunField::status, "", Compare::equal, "FAILED"}}},
      {"datasets.context = 'train'", {{RunField::dataset_context, "", Compare::equal, "train"}}},
      {"params.a = 'it''s' and params.b = \"a\"\"b\"",
       {{kParam, "a", Compare::equal, "it's"}, {kParam, "b", Compare::equal, "a\"b"}}},
      {"params.a = 'x AND y'", {{kParam, "a", Compare::equal, "x AND y"}}},
      {"params.a='1'AND\tparams.b='2'\nand user_id = 'ada'",
       {{kParam, "a", Compare::equal, "1"},
        {kParam, "b", Compare::equal, "2"},
        {RunField::user, "", Compare::equal, "ada"}}},
      {"params.a = '); DROP TABLE jobs; --'", {{kParam, "a", Compare::equal, "); DROP TABLE jobs; --"}}},
  };
  for (const Case& one : cases) {
    const auto parsed = parse_filter(Searched::runs, one.text);
    if (one.text.find("not_a_word") != std::string::npos) {
      EXPECT_FALSE(parsed) << one.text;
      continue;
    }
    ASSERT_TRUE(parsed) << one.text << ": " << describe(parsed.errors());
    EXPECT_EQ(*parsed, one.conditions) << one.text;
  }
}

struct Refused {
  std::string text;
  std::string part;  // of the message
};

TEST(MlflowFilter, SaysWhatIsWrong) {
  const std::vector<Refused> cases{
      {"metrics.loss", "comparator"},
      {"metrics.loss <", "number"},
      {"metrics.loss < 'x'", "number"},
      {"metrics.loss < 1x", "number"},
      {"metrics.loss < nan", "number"},
      {"metrics.loss < inf", "number"},
      {"metrics.loss LIKE '1'", "numbers"},
      {"metrics.loss << 1", "number"},
      {"metrics. < 1", "key"},
      {"metrics", "attribute"},
      {"params.lr = 0.01", "quoted"},
      {"params.lr < '1'", "texts"},
      {"params.lr IN ('1')", "run_id"},
      {"params.lr = '1", "not closed"},
      {"tags.a = `", "not closed"},
      {"loss < 1", "attribute"},
      {"foo.loss < 1", "entity"},
      {"`foo`.loss < 1", "entity"},
      {"`metrics`. < 1", "key"},
      {"`metrics` .loss < 1", "attribute"},
      {"status = FINISHED", "quoted"},
      {"start_time > 'x'", "number"},
      {"run_id IN ()", "list"},
      {"run_id IN ('a'", "list"},
      {"run_id IN 'a'", "list"},
      {"run_id IN ('a',)", "list"},
      {"run_id NOT ('a')", "comparator"},
      {"dataset.size = 'x'", "name, digest, context"},
      {"metrics.a < 1 OR metrics.b < 1", "AND"},
      {"(metrics.a < 1)", "identifier"},
      {"metrics.a < 1 metrics.b < 1", "AND"},
      {"metrics.a < 1 AND", "missing after AND"},
      {"AND metrics.a < 1", "attribute"},
      {"'x' = 'x'", "identifier"},
      {"name = 'x'", "attribute"},
      {std::string(9000, ' '), "bytes"},
  };
  for (const Refused& one : cases) {
    const auto parsed = parse_filter(Searched::runs, one.text);
    ASSERT_FALSE(parsed) << one.text;
    EXPECT_NE(describe(parsed.errors()).find(one.part), std::string::npos)
        << one.text << ": " << describe(parsed.errors());
  }
  std::string many = "metrics.a < 1";
  for (std::size_t i = 1; i < kMostComparisons; ++i) many += " and metrics.a < 1";
  EXPECT_TRUE(parse_filter(Searched::runs, many));
  EXPECT_FALSE(parse_filter(Searched::runs, many + " and metrics.a < 1"));
}

TEST(MlflowFilter, ReadsThoseOfExperiments) {
  const auto parsed =
      parse_filter(Searched::experiments, "name = 'a' and creation_time > 5 and tags.k ILIKE 'v'");
  ASSERT_TRUE(parsed) << describe(parsed.errors());
  EXPECT_EQ(*parsed, (std::vector<Condition>{{RunField::name, "", Compare::equal, "a"},
                                             {RunField::group_created, "", Compare::more, std::int64_t{5}},
                                             {RunField::tag, "k", Compare::like_any_case, "v"}}));
  for (const char* wrong : {"metrics.a < 1", "params.a = 'x'", "status = 'x'", "dataset.name = 'x'"})
    EXPECT_FALSE(parse_filter(Searched::experiments, wrong)) << wrong;
}

TEST(MlflowFilter, ReadsOrders) {
  const auto parsed = parse_order(Searched::runs, {"metrics.loss DESC", "params.`a b`", "start_time asc"});
  ASSERT_TRUE(parsed) << describe(parsed.errors());
  EXPECT_EQ(*parsed, (std::vector<OrderBy>{
                         {kMetric, "loss", true}, {kParam, "a b", false}, {RunField::started, "", false}}));
  EXPECT_TRUE(parse_order(Searched::experiments, {"creation_time DESC", "name"}));
  for (const char* wrong : {"", "metrics.loss down", "metrics.loss DESC DESC", "loss", "dataset.name", "x.y"})
    EXPECT_FALSE(parse_order(Searched::runs, {wrong})) << wrong;
  EXPECT_FALSE(parse_order(Searched::experiments, {"tags.a"}));
  EXPECT_FALSE(parse_order(Searched::runs, std::vector<std::string>(kMostOrders + 1, "start_time")));
}

}  // namespace
}  // namespace podium::mlflow
