#include "tests/worker/ops/op_check.h"

namespace podium::test {

Context make_context(int threads) { return Context{.threads = threads}; }

}  // namespace podium::test
