#include "skein/data/sample_sheet.h"

#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "skein/base/expect.h"
#include "skein/data/class_pools.h"

namespace skein {
namespace {

constexpr std::string_view ink = "#22303c";
constexpr std::string_view faint = "#66737f";
constexpr std::string_view in_phase_colour = "#0072B2";
constexpr std::string_view quadrature_colour = "#D55E00";
constexpr std::size_t most_rows = 60;
constexpr double margin = 32;
constexpr double gap = 6;
constexpr double top = 96;

std::string base64(std::span<const std::uint8_t> bytes) {
  static constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t left = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = (group << 8U) | (k < left ? bytes[i + k] : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text += k <= left ? digits[(group >> (18U - 6U * k)) & 63U] : '=';
    }
  }
  return text;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, 80)) {
    out += c == '&'   ? "&amp;"
           : c == '<' ? "&lt;"
           : c == '>' ? "&gt;"
           : c == '"' ? "&quot;"
                      : std::string(1, c);
  }
  return out;
}

bool is_waveform(const SampleShape& shape) { return shape.height == 2 && shape.channels == 1; }

// One stored value as a shade: bytes are shades already, floats are spread between the least and the most.
class Shades {
 public:
  explicit Shades(const Dataset& dataset) : dataset_(dataset) {
    if (const auto* values = std::get_if<std::vector<float>>(&dataset.features);
        values != nullptr && !values->empty()) {
      const auto [least, most] = std::ranges::minmax(*values);
      low_ = least;
      range_ = most > least ? most - least : 1.0F;
    }
  }

  [[nodiscard]] std::uint8_t at(std::size_t place) const {
    if (const auto* bytes = std::get_if<std::vector<std::uint8_t>>(&dataset_.features)) {
      return (*bytes)[place];
    }
    const float value = std::get<std::vector<float>>(dataset_.features)[place];
    return static_cast<std::uint8_t>(std::lround(255.0F * std::clamp((value - low_) / range_, 0.0F, 1.0F)));
  }

 private:
  const Dataset& dataset_;
  float low_ = 0.0F;
  float range_ = 1.0F;
};

std::vector<std::uint8_t> png_of(const SampleShape& shape, std::span<const std::uint8_t> pixels) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(shape.width);
  image.height = static_cast<png_uint_32>(shape.height);
  image.format = shape.channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::vector<std::uint8_t> file(size);
  const int written = png_image_write_to_memory(&image, file.data(), &size, 0, pixels.data(), 0, nullptr);
  expect(written != 0, "a picture of a sample can be compressed");
  file.resize(size);
  return file;
}

// Colour if there are three channels, else the first channel in grey.
std::string image_tile(const Dataset& dataset, const Shades& shades, SampleIndex sample, double x, double y,
                       double width, double height) {
  const std::size_t channels = dataset.shape.channels;
  const std::size_t shown = channels == 3 ? 3 : 1;
  const std::size_t begin = sample * dataset.shape.size();
  std::vector<std::uint8_t> pixels;
  for (std::size_t pixel = 0; pixel < dataset.shape.height * dataset.shape.width; ++pixel) {
    for (std::size_t channel = 0; channel < shown; ++channel) {
      pixels.push_back(shades.at(begin + pixel * channels + channel));
    }
  }
  const SampleShape shape{dataset.shape.height, dataset.shape.width, shown};
  return fmt::format(
      "<image x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" preserveAspectRatio=\"none\" "
      "style=\"image-rendering:pixelated\" href=\"data:image/png;base64,{}\"><title>sample "
      "{}</title></image>\n",
      x, y, width, height, base64(png_of(shape, pixels)), sample);
}

// The two rows of a waveform, scaled to fill the tile.
std::string waveform_tile(const Dataset& dataset, SampleIndex sample, double x, double y, double width,
                          double height) {
  std::vector<float> values(dataset.shape.size());
  dataset.read(sample, values);
  float largest = 1e-30F;
  for (const float value : values) {
    largest = std::max(largest, std::abs(value));
  }
  const double title = dataset.snr_db.empty() ? 0.0 : 14.0;  // room for its signal-to-noise ratio
  const double middle = y + title + (height - title) / 2;
  const double reach = 0.46 * (height - title);
  const std::size_t length = dataset.shape.width;
  const double step = width / static_cast<double>(std::max<std::size_t>(length - 1, 1));
  std::string svg =
      fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"#f5f7f9\"/>\n",
                  x, y, width, height);
  for (std::size_t row = 0; row < 2; ++row) {
    svg += fmt::format(R"(<polyline fill="none" stroke-width="1" stroke="{}" points=")",
                       row == 0 ? in_phase_colour : quadrature_colour);
    for (std::size_t t = 0; t < length; ++t) {
      svg += fmt::format("{:.1f},{:.1f} ", x + step * static_cast<double>(t),
                         middle - reach * static_cast<double>(values[row * length + t] / largest));
    }
    svg += "\"/>\n";
  }
  if (!dataset.snr_db.empty()) {
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"10\" fill=\"{}\">{} dB</text>\n", x + 4,
                       y + 12, faint, static_cast<int>(dataset.snr_db[sample]));
  }
  return svg;
}

}  // namespace

std::string sample_sheet_svg(const Dataset& dataset, std::size_t per_class) {
  const ClassPools pools(dataset);
  const bool waveform = is_waveform(dataset.shape);
  const std::size_t columns = waveform ? std::min<std::size_t>(per_class, 6) : per_class;
  const std::size_t rows = std::min(pools.num_classes(), most_rows);
  const double tile_height = waveform ? 72.0 : 56.0;
  const double aspect = static_cast<double>(dataset.shape.width) /
                        static_cast<double>(std::max<std::size_t>(dataset.shape.height, 1));
  const double tile_width = waveform ? 168.0 : std::clamp(tile_height * aspect, 14.0, 224.0);
  const double left = margin + 124;
  const double width = left + static_cast<double>(columns) * (tile_width + gap) + margin;
  const double height = top + static_cast<double>(rows) * (tile_height + gap) + margin;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} "
      "{1:.0f}\" font-family=\"system-ui, 'Segoe UI', Helvetica, Arial, sans-serif\" fill=\"{2}\" "
      "role=\"img\">\n<title>{3}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
      "<text x=\"{4}\" y=\"42\" font-size=\"20\" font-weight=\"600\">{3}</text>\n"
      "<text x=\"{4}\" y=\"64\" font-size=\"13\" fill=\"{5}\">{6} samples of {7} x {8} x {9}, {10} "
      "classes{11}"
      "</text>\n",
      std::max(width, 420.0), height, ink, escaped(dataset.name), margin, faint, dataset.size(),
      dataset.shape.height, dataset.shape.width, dataset.shape.channels, pools.num_classes(),
      rows < pools.num_classes() ? fmt::format(", the first {} shown", rows) : "");
  if (waveform) {
    svg += fmt::format(
        "<text x=\"{}\" y=\"84\" font-size=\"12\"><tspan fill=\"{}\">in phase</tspan>  <tspan "
        "fill=\"{}\">quadrature</tspan></text>\n",
        left, in_phase_colour, quadrature_colour);
  }
  const Shades shades(dataset);
  for (std::size_t label = 0; label < rows; ++label) {
    const std::span<const SampleIndex> pool = pools.of(label);
    const double y = top + static_cast<double>(label) * (tile_height + gap);
    svg += fmt::format(
        "<text x=\"{0}\" y=\"{1:.1f}\" font-size=\"13\">{2}</text>\n<text x=\"{0}\" y=\"{3:.1f}\" "
        "font-size=\"11\" fill=\"{4}\">{5} samples</text>\n",
        margin, y + tile_height / 2 - 2, escaped(pools.class_name(label).substr(0, 18)),
        y + tile_height / 2 + 14, faint, pool.size());
    const std::size_t shown = std::min(columns, pool.size());
    for (std::size_t column = 0; column < shown; ++column) {
      const SampleIndex sample = pool[column * pool.size() / shown];
      const double x = left + static_cast<double>(column) * (tile_width + gap);
      svg += waveform ? waveform_tile(dataset, sample, x, y, tile_width, tile_height)
                      : image_tile(dataset, shades, sample, x, y, tile_width, tile_height);
    }
  }
  return svg + "</svg>\n";
}

}  // namespace skein
