#include "skein/data/pickle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "skein/base/file.h"
#include "skein/base/input_fault.h"
#include "skein/base/random.h"

namespace skein {
namespace {

using testing::HasSubstr;
using Waveforms = std::map<WaveformKey, std::vector<float>>;

// Written by make.py in the same directory.
const std::filesystem::path fixtures =
    std::filesystem::path(SKEIN_SOURCE_DIR) / "tests/reference/waveform_pickles";
const std::vector<WaveformKey> keys{{"QPSK", 2}, {"8PSK", 0}, {"GFSK", -4}, {"CPFSK", 18}, {"PAM4", 0}};

std::vector<std::filesystem::path> fixture_paths() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(fixtures)) {
    if (entry.path().extension() == ".pkl") {
      paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

Waveforms parse(std::string_view bytes, const std::function<bool(const WaveformKey&)>& wanted) {
  ByteReader reader(bytes, "some-file");
  return read_waveform_pickle(reader, wanted);
}

bool all(const WaveformKey& /*key*/) { return true; }

std::string message_of(std::string_view bytes) {
  try {
    parse(bytes, all);
  } catch (const InputError& error) {
    EXPECT_EQ(error.faults().size(), 1U);
    EXPECT_EQ(error.faults().front().file, "some-file");
    return error.what();
  }
  return "no fault";
}

// "\0" inside a literal is kept.
template <std::size_t N>
std::string message_of_literal(const char (&text)[N]) {
  return message_of(std::string_view(text, N - 1));
}

TEST(Pickle, ReadsEveryProtocolOfPython2And3) {
  const std::vector<std::filesystem::path> paths = fixture_paths();
  ASSERT_EQ(paths.size(), 9U);
  for (const std::filesystem::path& path : paths) {
    ByteReader reader(path);
    const Waveforms waveforms = read_waveform_pickle(reader, all);
    ASSERT_EQ(waveforms.size(), keys.size()) << path;
    for (std::size_t e = 0; e < keys.size(); ++e) {
      const std::vector<float>& values = waveforms.at(keys[e]);
      ASSERT_EQ(values.size(), 2 * waveform_values) << path;
      for (std::size_t i = 0; i < values.size(); ++i) {
        ASSERT_EQ(values[i], static_cast<float>(e) + static_cast<float>(i) / 512.0F) << path;
      }
    }
  }
}

TEST(Pickle, KeepsOnlyWhatIsWanted) {
  for (const std::filesystem::path& path : fixture_paths()) {
    ByteReader reader(path);
    const Waveforms waveforms = read_waveform_pickle(
        reader, [](const WaveformKey& key) { return key.snr_db == 0 && key.modulation != "8PSK"; });
    ASSERT_EQ(waveforms.size(), 1U) << path;
    EXPECT_EQ(waveforms.begin()->first, (WaveformKey{"PAM4", 0}));
    EXPECT_EQ(waveforms.begin()->second[1], 4.0F + 1.0F / 512.0F);
  }
}

TEST(Pickle, RefusesEveryTruncation) {
  for (const std::filesystem::path& path : fixture_paths()) {
    const std::string whole = read_file(path, 1 << 20);
    for (std::size_t length = 0; length < whole.size(); length += length < 600 ? 1 : 97) {
      EXPECT_NE(message_of(std::string_view(whole).substr(0, length)), "no fault") << path << " " << length;
    }
    EXPECT_NE(message_of(std::string_view(whole).substr(0, whole.size() - 1)), "no fault");
    EXPECT_THAT(message_of(whole + "x"), HasSubstr("1 bytes follow the end of the pickle"));
  }
}

// Whatever is changed, the outcome is a set of waveforms or one InputError.
TEST(Pickle, SurvivesRandomDamage) {
  RandomStream random(1, "pickle damage");
  for (const std::filesystem::path& path : fixture_paths()) {
    const std::string whole = read_file(path, 1 << 20);
    for (int trial = 0; trial < 300; ++trial) {
      std::string damaged = whole;
      const std::uint64_t changes = 1 + random.below(4);
      for (std::uint64_t i = 0; i < changes; ++i) {
        // Mostly among the instructions, not the values.
        const std::uint64_t place = random.bernoulli(0.8) ? random.below(400) : random.below(whole.size());
        damaged[place] = static_cast<char>(random.below(256));
      }
      message_of(damaged);
    }
  }
}

TEST(Pickle, RunsNoOtherFunction) {
  EXPECT_THAT(message_of("cos\nsystem\n(S'true'\ntR."), HasSubstr("asks for the function \"os.system\""));
  EXPECT_THAT(message_of("c__builtin__\neval\n(S'1'\ntR."), HasSubstr("\"__builtin__.eval\""));
  EXPECT_THAT(message_of_literal("\x80\x04\x8c\x05posix\x8c\x06system\x93)R."),
              HasSubstr("\"posix.system\""));
  EXPECT_THAT(message_of("(S'x'\nios\nsystem\n."), HasSubstr("instruction (0x69)"));
  EXPECT_THAT(message_of("(cnumpy\nndarray\no."), HasSubstr("instruction (0x6f)"));
  EXPECT_THAT(message_of("cnumpy\nndarray\n)\x81."), HasSubstr("instruction (0x81)"));
  EXPECT_THAT(message_of("Pid\n."), HasSubstr("instruction (0x50)"));
  EXPECT_THAT(message_of("cnumpy\nndarray\n)R."), HasSubstr("calls numpy.ndarray"));
  EXPECT_THAT(message_of("S'numpy'\n)R."), HasSubstr("calls what is not a function"));
  EXPECT_THAT(message_of("c_codecs\nencode\n(Va\nVutf-8\ntR."),
              HasSubstr("only known for text and 'latin1'"));
}

TEST(Pickle, RefusesWhatIsNotADictionaryOfWaveforms) {
  EXPECT_EQ(message_of("}."), "no fault");
  EXPECT_THAT(message_of(""), HasSubstr("ends too early"));
  EXPECT_THAT(message_of("."), HasSubstr("takes a value that is not there"));
  EXPECT_THAT(message_of("I1\n."), HasSubstr("is not one dictionary"));
  EXPECT_THAT(message_of("}}."), HasSubstr("is not one dictionary"));
  EXPECT_THAT(message_of("}S'a'\nI1\ns."), HasSubstr("are not (modulation, SNR in dB)"));
  EXPECT_THAT(message_of("}(S'a'\nI1\ntI5\ns."), HasSubstr("are not (modulation, SNR in dB)"));
  EXPECT_THAT(message_of("}(S'a'\nI1\nt}s."), HasSubstr("are not (modulation, SNR in dB)"));
  EXPECT_THAT(message_of("}(I1\nu."), HasSubstr("sets items of what is not a dictionary"));
  EXPECT_THAT(message_of("]."), HasSubstr("instruction (0x5d)"));
}

TEST(Pickle, RefusesArraysThatAreNotWaveforms) {
  const std::string start =
      "}(S'QPSK'\nI2\ntcnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(I0\ntS'b'\ntR";
  const std::string type = "cnumpy\ndtype\n(S'f4'\nI0\nI1\ntR";
  const std::string end = "tbs.";
  EXPECT_THAT(message_of(start + "s."), HasSubstr("has no values, or is used twice"));
  EXPECT_THAT(message_of(start + "(I1\n(I1\nt" + type + "I00\nS'abcd'\n" + end),
              HasSubstr("the array of (QPSK, 2) has shape (1), not (n, 2, 128)"));
  EXPECT_THAT(message_of(start + "(I1\n(I0\nI2\nI128\nt" + type + "I00\nS''\n" + end),
              HasSubstr("has shape (0, 2"));
  EXPECT_THAT(message_of(start + "(I1\n(I2\nt" + type + "I00\nS'abcd'\n" + end),
              HasSubstr("an array of shape (2) has 4 bytes of values"));
  EXPECT_THAT(message_of(start + "(I1\n(I-1\nt" + type + "I00\nS'abcd'\n" + end),
              HasSubstr("not a tuple of sizes"));
  EXPECT_THAT(message_of(start + "(I1\n(I4294967296\nI4294967296\nt" + type + "I00\nS''\n" + end),
              HasSubstr("has 0 bytes of values"));
  EXPECT_THAT(message_of(start + "(I1\n(I1\nt" + type + "I01\nS'abcd'\n" + end), HasSubstr("not in C order"));
  EXPECT_THAT(message_of(start + "(I1\n(I1\ntcnumpy\ndtype\n(S'O8'\ntRI00\nS'abcd'\n" + end),
              HasSubstr("not one of f4, f8"));
  EXPECT_THAT(message_of(start + "(I1\n(I1\nt" + type + "(I3\nS'>'\ntbI00\nS'abcd'\n" + end),
              HasSubstr("not little-endian"));
  const auto waveform_of = [&](const std::string& value) {
    std::string values;
    for (int i = 0; i < 256; ++i) {
      values += value;
    }
    return message_of(start + "(I1\n(I1\nI2\nI128\nt" + type + "I00\nS'" + values + "'\n" + end);
  };
  EXPECT_EQ(waveform_of("\\x00\\x00\\x80?"), "no fault");
  EXPECT_THAT(waveform_of("\\x00\\x00\\xc0\\x7f"), HasSubstr("NaN or infinite"));
}

TEST(Pickle, RefusesBadTextAndNumbers) {
  for (const char* text : {"S'a\n.",
                           "Sa\n.",
                           "S'\n.",
                           "S\n.",
                           "S'a\"\n.",
                           "S'\\x4'\n.",
                           "S'\\xzz'\n.",
                           "S'\\'\n.",
                           "S'\\q'\n.",
                           "V\\u12\n.",
                           "V\\U00110000\n.",
                           "V\\uzzzz\n.",
                           "I\n.",
                           "Ix\n.",
                           "I1x\n.",
                           "I99999999999999999999\n.",
                           "L1\n0L1LL\n.",
                           "F\n.",
                           "Fx\n.",
                           "g1\n.",
                           "g-1\n.",
                           "p1\n.",
                           "t.",
                           "0.",
                           "1.",
                           "2.",
                           "(2.",
                           "\x85.",
                           "b.",
                           "I1\nI2\nb.",
                           "I1\n(tb.",
                           "R.",
                           "s."}) {
    EXPECT_THAT(message_of(text),
                testing::Not(testing::AnyOf("no fault", HasSubstr("is not one dictionary"))))
        << text;
  }
  EXPECT_THAT(message_of_literal("\x8a\x09"
                                 "123456789."),
              HasSubstr("more than 64 bits"));
  EXPECT_THAT(message_of_literal("\x80\x06."), HasSubstr("has pickle protocol 6"));
  EXPECT_THAT(message_of_literal("T\xff\xff\xff\x7f."), HasSubstr("2147483647 bytes are due, 1 are left"));
  EXPECT_THAT(message_of_literal("\x8e\xff\xff\xff\xff\xff\xff\xff\xff."), HasSubstr("ends too early"));
  EXPECT_THAT(message_of_literal("\x95\xff\0\0\0\0\0\0\0."), HasSubstr("frame is longer"));
}

TEST(Pickle, BoundsDepthStackMemoAndTuples) {
  std::string deep = ")";
  for (int i = 0; i < 100; ++i) {
    deep += '\x85';
  }
  EXPECT_THAT(message_of(deep), HasSubstr("16 levels"));
  EXPECT_THAT(message_of("(" + std::string(65, 'N') + "t."), HasSubstr("more than 64 items"));
  EXPECT_THAT(message_of(std::string(20'000, 'N')), HasSubstr("stacks more than 16384 values"));
  EXPECT_THAT(message_of(std::string(20'000, '(')), HasSubstr("sets more than 16384 marks"));
  EXPECT_THAT(message_of("N" + std::string(70'000, '\x94')), HasSubstr("memorises more than 65536 values"));
  EXPECT_THAT(message_of("}\x85."), HasSubstr("dictionary is inside a tuple"));
}

// A few bytes that refer to a long string again and again cannot fill the memory.
TEST(Pickle, ALongStringIsUsedOnce) {
  EXPECT_THAT(message_of("V" + std::string(2000, 'a') +
                         "\np1\n0c_codecs\nencode\np2\n(g1\nVlatin1\ntRg2\n(g1\nVlatin1\ntR."),
              HasSubstr("a long string is used twice"));
}

}  // namespace
}  // namespace skein
