#include "skein/base/digest.h"

#include <gtest/gtest.h>

#include <fstream>

#include "skein/base/input_fault.h"
#include "tests/temporary_directory.h"

namespace skein {
namespace {

// The examples of FIPS 180-4, and the empty message.
TEST(Digest, AgreesWithPublishedExamples) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha512(""),
            "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce"
            "47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e");
  EXPECT_EQ(sha512("abc"),
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
            "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f");
  EXPECT_EQ(sha512("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
                   "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu"),
            "8e959b75dae313da8cf4f72814fc143f8f7779c6eb9f7fa17299aeadb6889018"
            "501d289e4900f7e4331b99dec4b5433ac7d329eeb6dd26545e96e55b874be909");
}

TEST(Digest, AMillionLetters) {
  const std::string letters(1'000'000, 'a');
  Sha256 pieces;
  for (std::size_t from = 0, size = 0; from < letters.size(); from += size, ++size) {
    pieces.add(std::string_view(letters).substr(from, size));
  }
  EXPECT_EQ(pieces.finish(), sha256(letters));
  EXPECT_EQ(sha256(letters), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  EXPECT_EQ(sha512(letters),
            "e718483d0ce769644e2e42c7bc15b4638e1f98b13b2044285632a803afa973eb"
            "de0ff244877ea60a4cb0432ce577c31beb009c5c2c49aa2e4eadb217ad8cc09b");
}

// Lengths around the places where the padding needs one block more; the digests of all of them, digested,
// are from an independent implementation (Python's hashlib).
TEST(Digest, EveryLengthOfPadding) {
  std::string all_256;
  std::string all_512;
  for (std::size_t length = 0; length < 300; ++length) {
    all_256 += sha256(std::string(length, 'x'));
    all_512 += sha512(std::string(length, 'x'));
  }
  EXPECT_EQ(sha256(all_256), "3d495ac8356e73941898cd69a28db2416d82a39572f771b3306e99afe7e013e0");
  EXPECT_EQ(sha256(all_512), "8102fbc00a7355d08fb600d881c48a0a109b381a03a2320b6a90b535134b475b");
}

TEST(Digest, OfAFileIsThatOfItsBytes) {
  const TemporaryDirectory directory;
  const std::filesystem::path path = directory.path() / "file";
  const std::string bytes(200'001, 'q');
  std::ofstream(path, std::ios::binary) << bytes;
  EXPECT_EQ(sha256_of_file(path), sha256(bytes));
  EXPECT_EQ(sha512_of_file(path), sha512(bytes));
  EXPECT_THROW(sha256_of_file(directory.path()), InputError);
  EXPECT_THROW(sha256_of_file(directory.path() / "absent"), InputError);
}

}  // namespace
}  // namespace skein
