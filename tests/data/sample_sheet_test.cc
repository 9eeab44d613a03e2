#include "skein/data/sample_sheet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <png.h>

#include <string>
#include <vector>

#include "tests/data/labelled_data.h"

namespace skein {
namespace {

using testing::HasSubstr;
using testing::Not;

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

std::vector<std::uint8_t> from_base64(const std::string& text) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<std::uint8_t> bytes;
  unsigned bits = 0;
  unsigned count = 0;
  for (const char c : text) {
    if (c != '=') {
      bits = (bits << 6U) | static_cast<unsigned>(digits.find(c));
      count += 6;
      if (count >= 8) {
        count -= 8;
        bytes.push_back(static_cast<std::uint8_t>(bits >> count));
      }
    }
  }
  return bytes;
}

// The pixels of the first picture in the sheet.
std::vector<std::uint8_t> first_picture(const std::string& svg, unsigned format) {
  const std::string mark = "base64,";
  const std::size_t begin = svg.find(mark) + mark.size();
  const auto file = from_base64(svg.substr(begin, svg.find('"', begin) - begin));
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  EXPECT_NE(png_image_begin_read_from_memory(&image, file.data(), file.size()), 0) << image.message;
  image.format = format;
  std::vector<std::uint8_t> pixels(PNG_IMAGE_SIZE(image));
  EXPECT_NE(png_image_finish_read(&image, nullptr, pixels.data(), 0, nullptr), 0) << image.message;
  return pixels;
}

TEST(SampleSheet, ShowsPixelsAsStored) {
  Dataset grey{.name = "grey", .shape = {3, 2, 1}, .class_names = {"only"}, .labels = {0}};
  grey.features = std::vector<std::uint8_t>{0, 10, 20, 100, 200, 255};
  EXPECT_EQ(first_picture(sample_sheet_svg(grey), PNG_FORMAT_GRAY),
            std::get<std::vector<std::uint8_t>>(grey.features));
  Dataset colour{.name = "colour", .shape = {1, 2, 3}, .class_names = {"only"}, .labels = {0}};
  colour.features = std::vector<std::uint8_t>{255, 0, 7, 1, 2, 3};
  EXPECT_EQ(first_picture(sample_sheet_svg(colour), PNG_FORMAT_RGB),
            std::get<std::vector<std::uint8_t>>(colour.features));
  Dataset floats{.name = "floats", .shape = {1, 3, 1}, .class_names = {"only"}, .labels = {0}};
  floats.features = std::vector<float>{-1.0F, 0.0F, 1.0F};
  EXPECT_EQ(first_picture(sample_sheet_svg(floats), PNG_FORMAT_GRAY),
            (std::vector<std::uint8_t>{0, 128, 255}));
}

TEST(SampleSheet, HasARowPerClassAndSpreadsSamplesOverIt) {
  Dataset data = labelled_data({40, 0, 3});
  data.class_names[0] = "<b>";
  const std::string svg = sample_sheet_svg(data, 5);
  EXPECT_EQ(count_of(svg, "<image "), 5U + 0U + 3U);
  EXPECT_THAT(svg, HasSubstr(">40 samples<"));
  EXPECT_THAT(svg, HasSubstr(">0 samples<"));
  EXPECT_THAT(svg, HasSubstr("&lt;b&gt;"));
  EXPECT_THAT(svg, Not(HasSubstr("<b>")));
}

TEST(SampleSheet, DrawsWaveformsAsTwoLines) {
  Dataset waves{.name = "waves", .shape = {2, 8, 1}, .class_names = {"a", "b"}, .labels = {0, 1, 0}};
  waves.features = std::vector<float>(48, 0.0F);
  waves.snr_db = {-4, 10, 18};
  waves.mean = {0.0F};
  waves.deviation = {1.0F};
  const std::string svg = sample_sheet_svg(waves);
  EXPECT_EQ(count_of(svg, "<polyline "), 6U);
  EXPECT_THAT(svg, HasSubstr(">-4 dB<"));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

}  // namespace
}  // namespace skein
