#include "skein/base/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <functional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "skein/base/input_fault.h"
#include "tests/temporary_directory.h"

namespace skein {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::size_t no_limit = 1 << 30;

std::vector<std::string> names_in(const fs::path& directory) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
    names.push_back(entry.path().filename());
  }
  return names;
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "did not throw";
}

// Puts root's powers aside for a while, where the test has them.
class Unprivileged {
 public:
  Unprivileged() : was_root_(::geteuid() == 0 && ::seteuid(nobody) == 0) {}
  ~Unprivileged() {
    if (was_root_ && ::seteuid(0) != 0) {
      std::abort();
    }
  }
  Unprivileged(const Unprivileged&) = delete;
  Unprivileged& operator=(const Unprivileged&) = delete;
  Unprivileged(Unprivileged&&) = delete;
  Unprivileged& operator=(Unprivileged&&) = delete;

 private:
  static constexpr uid_t nobody = 65534;
  bool was_root_;
};

class File : public testing::Test {
 protected:
  [[nodiscard]] fs::path at(const std::string& name) const { return directory_.path() / name; }
  [[nodiscard]] std::vector<std::string> names() const { return names_in(directory_.path()); }

 private:
  TemporaryDirectory directory_;
};

TEST_F(File, KeepsEveryByte) {
  std::string content;
  for (int i = 0; i < 300000; ++i) {
    content += static_cast<char>(i * 7 % 256);
  }
  for (const std::string& text : {std::string(), std::string("\0\r\n\xff", 4), content}) {
    write_file(at("bytes"), text);
    EXPECT_EQ(read_file(at("bytes"), no_limit), text);
  }
  EXPECT_THAT(names(), ElementsAre("bytes"));
}

TEST_F(File, CreatesMissingDirectories) {
  write_file(at("a/b/c.txt"), "deep");
  EXPECT_EQ(read_file(at("a/b/c.txt"), no_limit), "deep");
}

TEST_F(File, ReplacesWhole) {
  write_file(at("x"), "a long first content");
  write_file(at("x"), "short");
  EXPECT_EQ(read_file(at("x"), no_limit), "short");
  EXPECT_THAT(names(), ElementsAre("x"));
}

TEST_F(File, PieceByPieceItIsAllOrNothingToo) {
  write_file(at("x"), [](std::ostream& stream) {
    stream << "one"
           << "two";
  });
  EXPECT_EQ(read_file(at("x"), no_limit), "onetwo");
  EXPECT_THROW(write_file(at("x"),
                          [](std::ostream& stream) {
                            stream << "three";
                            throw std::runtime_error("something else");
                          }),
               std::runtime_error);
  EXPECT_EQ(read_file(at("x"), no_limit), "onetwo");
  EXPECT_THAT(names(), ElementsAre("x"));
}

TEST_F(File, ReadsUpToTheLimit) {
  write_file(at("x"), std::string(70000, 'x'));
  EXPECT_EQ(read_file(at("x"), 70000).size(), 70000U);
  EXPECT_THAT(message_of([&] { read_file(at("x"), 69999); }),
              AllOf(HasSubstr(at("x").string()), HasSubstr("larger than the 69999 bytes allowed")));
  write_file(at("empty"), "");
  EXPECT_EQ(read_file(at("empty"), 0), "");
}

TEST_F(File, AnEndlessFileIsCutOff) {
  EXPECT_THAT(message_of([] { read_file("/dev/zero", 100000); }), HasSubstr("larger than"));
}

TEST_F(File, NamesWhatCannotBeRead) {
  EXPECT_THAT(message_of([&] { read_file(at("absent"), no_limit); }),
              AllOf(HasSubstr(at("absent").string()), HasSubstr("no such file")));
  EXPECT_THAT(message_of([&] { read_file(at(""), no_limit); }), HasSubstr("is a directory"));
}

TEST_F(File, ADirectoryIsNotOverwritten) {
  write_file(at("taken/inside"), "x");
  EXPECT_THAT(message_of([&] { write_file(at("taken"), "y"); }),
              AllOf(HasSubstr(at("taken").string()), HasSubstr("cannot be written")));
  EXPECT_THAT(names(), ElementsAre("taken"));
  EXPECT_EQ(read_file(at("taken/inside"), no_limit), "x");
}

TEST_F(File, AFileIsNotADirectory) {
  write_file(at("file"), "x");
  EXPECT_THAT(message_of([&] { write_file(at("file/below"), "y"); }), HasSubstr("cannot be created"));
  EXPECT_THAT(names(), ElementsAre("file"));
}

TEST_F(File, ANameThatTheSystemRefusesLeavesNothing) {
  EXPECT_THAT(message_of([&] { write_file(at(std::string(300, 'n')), "y"); }),
              HasSubstr("cannot be written"));
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(File, AnUnwritableDirectoryLeavesNothing) {
  write_file(at("locked/x"), "old");
  ASSERT_EQ(::chmod(at("locked").c_str(), 0555), 0);
  ASSERT_EQ(::chmod(at("").c_str(), 0755), 0);
  const Unprivileged as_nobody;
  if (::geteuid() == 0) {
    GTEST_SKIP() << "root may write everywhere, and cannot be put aside here";
  }
  EXPECT_THAT(message_of([&] { write_file(at("locked/x"), "new"); }), HasSubstr("cannot be written"));
  EXPECT_THAT(message_of([&] { write_file(at("locked/y"), "new"); }), HasSubstr("cannot be written"));
  EXPECT_THAT(message_of([&] { write_file(at("locked/deep/y"), "new"); }), HasSubstr("cannot be created"));
  EXPECT_THAT(names_in(at("locked")), ElementsAre("x"));
  EXPECT_EQ(read_file(at("locked/x"), no_limit), "old");
  static_cast<void>(::chmod(at("locked").c_str(), 0755));  // whoever is not root could not remove it else
}

TEST_F(File, ALockedFileIsNotRead) {
  write_file(at("locked"), "x");
  ASSERT_EQ(::chmod(at("locked").c_str(), 0), 0);
  ASSERT_EQ(::chmod(at("").c_str(), 0755), 0);
  const Unprivileged as_nobody;
  if (::geteuid() == 0) {
    GTEST_SKIP() << "root may read everything, and cannot be put aside here";
  }
  EXPECT_THAT(message_of([&] { read_file(at("locked"), no_limit); }), HasSubstr("cannot be opened"));
}

// As on a full disk: the write fails half-way.
TEST_F(File, AFailedWriteKeepsTheOldContent) {
  write_file(at("x"), "old");
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit old_limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old_limit), 0);
  const rlimit limit{.rlim_cur = 100000, .rlim_max = old_limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  const std::string message = message_of([&] { write_file(at("x"), std::string(1000000, 'n')); });
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &old_limit), 0);
  static_cast<void>(std::signal(SIGXFSZ, old_handler));

  EXPECT_THAT(message, AllOf(HasSubstr(at("x").string()), HasSubstr("cannot be written")));
  EXPECT_EQ(read_file(at("x"), no_limit), "old");
  EXPECT_THAT(names(), ElementsAre("x"));
}

}  // namespace
}  // namespace skein
