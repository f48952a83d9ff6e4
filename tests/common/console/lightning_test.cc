// Progress bars that people published of Lightning's versions 0.9 to 2.5.
#include <gmock/gmock.h>

#include "common/console/named_parsers.h"
#include "tests/common/console/values_of.h"

namespace podium {
namespace {

using testing::Pair;
using testing::UnorderedElementsAre;

class Lightning : public testing::Test {
 protected:
  ConsoleLine read(std::string_view line) { return parse_lightning(line, memory_); }

  ConsoleMemory memory_;
};

// Lightning-AI/pytorch-lightning, issue 4225.
TEST_F(Lightning, ReadsABar) {
  const ConsoleLine line =
      read("Epoch 0:  22%|██▏       | 4/18 [00:17<01:02,  4.47s/it, loss=9.947, v_num=193315] ");
  EXPECT_EQ(line.step, 4);
  EXPECT_THAT(values_of(line), UnorderedElementsAre(Pair("train/loss", 9.947)));
}

TEST_F(Lightning, ReadsABarThatTouchesItsNumbers) {
  EXPECT_EQ(read("Epoch 1:  50%|###1/2 [00:17<01:02,  4.47s/it, loss=9.947]").step, 3);
}

// Issue 3866; no bar is drawn where the terminal is narrow.
TEST_F(Lightning, CountsBatchesOverEpochs) {
  const ConsoleLine line =
      read("Epoch 2:  97% 1651/1702 [13:00<00:24,  2.11it/s, loss=0.158, v_num=0, train_loss_step=0.149]");
  EXPECT_EQ(line.step, 2 * 1702 + 1651);
  EXPECT_THAT(values_of(line),
              UnorderedElementsAre(Pair("train/loss", 0.158), Pair("train/loss_step", 0.149)));
}

TEST_F(Lightning, ReadsWhatValidationAddsAtTheSameStep) {
  constexpr std::string_view kBefore =
      "Epoch 0: 100%|██████████| 938/938 [00:10<00:00, 86.90it/s, v_num=0, train_loss=0.25]";
  EXPECT_EQ(read(kBefore).step, 938);
  EXPECT_TRUE(read(kBefore).empty());  // drawn again
  EXPECT_TRUE(
      read("Epoch 0: 100%|██████████| 938/938 [00:11<00:00, 84.10it/s, v_num=0, train_loss=0.25]").empty());
  const ConsoleLine line = read(
      "Epoch 0: 100%|██████████| 938/938 [00:12<00:00, 80.90it/s, v_num=0, train_loss=0.25, "
      "val_loss=0.5, test_acc=0.75]");
  EXPECT_EQ(line.step, 938);
  EXPECT_THAT(values_of(line),
              UnorderedElementsAre(Pair("train/loss", 0.25), Pair("eval/loss", 0.5), Pair("test/acc", 0.75)));
  EXPECT_THAT(
      values_of(read("Epoch 1: 1/938 [00:12<00:00, 80.90it/s, v_num=0, train_loss=0.125, val_loss=0.5, "
                     "test_acc=0.75]")),
      UnorderedElementsAre(Pair("train/loss", 0.125)))
      << "of the evaluation before";
  EXPECT_EQ(
      values_of(read("Epoch 1: 2/938 [00:12<00:00, 80.90it/s, v_num=0, train_loss=0.125, val_loss=0.25, "
                     "test_acc=0.75]"))
          .at("eval/loss"),
      0.25);
}

TEST_F(Lightning, PassesOverAllElse) {
  for (const std::string_view line :
       {"", "Epoch ", "Epoch 0:   0%|          | 0/18 [00:00<?, ?it/s] ", "Epoch 1: 3/2 [0, x=1]",
        "Epoch 0:   2%|▏         | 3744/150000 [3:12:36<125:24:04,  0.32it/s, v_num=35a4, ...]           ",
        "Epoch 1/5 [loss=1]", "Epoch x: 1/2 [a, b=1]", "Epoch 9999999999: 1/2 [a, b=1]",
        "Validation: 0it [00:00, ?it/s]", "Epoch 0: ] [", "Epoch 1: 1/2 [a, =1, b=, c=d]"})
    EXPECT_TRUE(read(line).empty()) << line;
}

}  // namespace
}  // namespace podium
