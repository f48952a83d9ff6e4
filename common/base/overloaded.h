// One visitor of several lambdas, for std::visit.
#pragma once

namespace podium {

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};

}  // namespace podium
