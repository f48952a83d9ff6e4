#include "common/base/recently_used.h"

#include <gtest/gtest.h>

#include <string>

namespace podium {
namespace {

TEST(RecentlyUsed, DropsWhatNobodyHasAskedForLongest) {
  RecentlyUsed<int, std::string> kept(2);
  int made = 0;
  const auto get = [&](int key) {
    return *kept.get(key, [&] {
      ++made;
      return std::make_unique<std::string>(std::to_string(key));
    });
  };
  EXPECT_EQ(get(1) + get(2), "12");
  EXPECT_EQ(get(1) + get(2) + get(1), "121");
  EXPECT_EQ(made, 2);
  EXPECT_EQ(get(3), "3");  // in place of 2
  EXPECT_EQ(get(1), "1");
  EXPECT_EQ(made, 3);
  EXPECT_EQ(get(2), "2");
  EXPECT_EQ(made, 4);
  EXPECT_EQ(kept.size(), 2u);
}

TEST(RecentlyUsed, WhatIsInUseOutlivesItsPlace) {
  RecentlyUsed<int, std::string> kept(1);
  const auto make = [](const char* text) { return [text] { return std::make_unique<std::string>(text); }; };
  const std::shared_ptr<std::string> held = kept.get(1, make("one"));
  kept.get(2, make("two"));
  EXPECT_EQ(*held, "one");
  EXPECT_EQ(*kept.get(1, make("one again")), "one again");
}

}  // namespace
}  // namespace podium
