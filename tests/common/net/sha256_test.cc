// SHA-256 against the vectors of FIPS 180-4's examples (NIST, "SHA256.pdf" and "SHA2_Additional.pdf").
#include "common/net/sha256.h"

#include <gtest/gtest.h>

namespace podium {
namespace {

TEST(Sha256, GivesThePublishedHashes) {
  EXPECT_EQ(sha256_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_of(std::string(1'000'000, '\0')),
            "d29751f2649b32ff572b5e0a9f541ea660a50f94ff0beedfb0b692b924cc8025");
}

TEST(Sha256, OfPiecesIsThatOfTheWholeAndBeginsAnew) {
  Sha256 hash;
  for (int i = 0; i < 1'000'000; ++i) hash.update("a");
  EXPECT_EQ(hash.hex(), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  hash.update("ab");
  hash.update("c");
  EXPECT_EQ(hash.hex(), sha256_of("abc"));
}

TEST(Sha256, IsNamedBySixtyFourLowerCaseDigits) {
  EXPECT_TRUE(is_sha256(sha256_of("")));
  EXPECT_FALSE(is_sha256(std::string(63, 'a')));
  EXPECT_FALSE(is_sha256(std::string(64, 'A')));
  EXPECT_FALSE(is_sha256(std::string(63, 'a') + "g"));
}

}  // namespace
}  // namespace podium
