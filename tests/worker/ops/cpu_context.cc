#include "tests/worker/ops/op_check.h"

namespace podium::test {

const double kFloat8SumTolerance = 1e-6;

Context make_context(int threads) { return Context{.threads = threads}; }

}  // namespace podium::test
