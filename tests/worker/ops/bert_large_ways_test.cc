// BERT-Large's four products at 128 rows by every way that the device has, against the CPU: what inference is
// timed with. Too long for the execution shim, which has the same ways at small sizes
// (cuda_inference_test.cc).
#include <tuple>

#include "tests/worker/ops/inference_product.h"

namespace podium::test {
namespace {

class BertLargeWays : public testing::TestWithParam<std::tuple<DType, bool>> {
 protected:
  void SetUp() override {
    if (type() == DType::e4m3 && !device_has_e4m3()) GTEST_SKIP() << "skipped: the device has no e4m3";
  }
  DType type() const { return std::get<0>(GetParam()); }
  bool is_sparse() const { return std::get<1>(GetParam()); }
  DType wide() const { return type() == DType::bf16 ? DType::bf16 : DType::f16; }
};

TEST_P(BertLargeWays, ComputeWhatTheCpuComputes) {
  constexpr std::int64_t kRows = 128, kHidden = 1024, kInner = 4096;
  check_every_way({kRows, 3 * kHidden, kHidden, type(), wide(), is_sparse()});
  check_every_way({kRows, kHidden, kHidden, type(), wide(), is_sparse(), Activation::none, true});
  const DType next = ops::is_quantised(type()) ? type() : wide();  // what the last product reads
  check_every_way({kRows, kInner, kHidden, type(), next, is_sparse(), Activation::gelu, false, 0.3F});
  check_every_way({kRows, kHidden, kInner, type(), wide(), is_sparse(), Activation::none, true});
}

INSTANTIATE_TEST_SUITE_P(All, BertLargeWays,
                         testing::Combine(testing::Values(DType::f16, DType::bf16, DType::i8, DType::e4m3),
                                          testing::Bool()),
                         name_of);

}  // namespace
}  // namespace podium::test
