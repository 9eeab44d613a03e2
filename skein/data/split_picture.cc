// The picture of a split: to_svg of split_preview.h.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "skein/data/split_preview.h"

namespace skein {
namespace {

constexpr std::string_view ink = "#22303c";
constexpr std::string_view faint = "#66737f";
constexpr std::string_view line = "#e4e8ec";
constexpr std::size_t most_rows = 50;
constexpr double margin = 32;

// Paul Tol's muted palette and an orange: distinguishable with any colour vision. Further classes take
// lighter, then darker shades of the same.
constexpr std::array<std::uint32_t, 10> palette{0x332288, 0x88ccee, 0x44aa99, 0x117733, 0xddcc77,
                                                0xcc6677, 0x882255, 0xaa4499, 0x999933, 0xe69f00};

std::string colour_of(std::size_t label) {
  const std::uint32_t base = palette[label % palette.size()];
  const std::size_t round = label / palette.size();
  const double towards = round % 2 == 1 ? 255.0 : 0.0;
  const double part =
      round == 0 ? 0.0 : std::min(0.35 + 0.15 * std::floor(static_cast<double>(round - 1) / 2.0), 0.8);
  std::string text = "#";
  for (const unsigned shift : {16U, 8U, 0U}) {
    const double channel = (base >> shift) & 0xffU;
    text += fmt::format("{:02x}", static_cast<unsigned>(std::lround(channel + (towards - channel) * part)));
  }
  return text;
}

// A round number not above `value`: 1, 2 or 5 times a power of ten.
std::size_t round_down(std::size_t value) {
  std::size_t power = 1;
  while (value / power >= 10) {
    power *= 10;
  }
  const std::size_t lead = value / power;
  return power * (lead >= 5 ? 5 : lead >= 2 ? 2 : 1);
}

// 1234567 -> 1,234,567
std::string grouped(std::size_t value) {
  std::string text = fmt::format("{}", value);
  for (std::size_t place = text.size(); place > 3; place -= 3) {
    text.insert(place - 3, 1, ',');
  }
  return text;
}

std::string plural(std::size_t count, std::string_view word) {
  return fmt::format("{} {}{}", grouped(count), word, count == 1 ? "" : "s");
}

// Names come from data files: markup is escaped, control characters are dropped, long ones cut.
std::string escaped(std::string_view text, std::size_t most_characters = 60) {
  std::string out;
  std::size_t characters = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool continues = (byte & 0xc0U) == 0x80U;
    if (!continues && characters++ == most_characters) {
      return out + "…";
    }
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        if (byte >= 0x20U) {
          out += c;
        }
    }
  }
  return out;
}

// Where everything goes, in points.
struct Layout {
  std::size_t rows = 0;
  std::size_t classes = 0;
  double row_height = 0;
  double column_width = 0;
  double bubbles_left = 0;
  double bars_left = 0;
  double bars_width = 360;
  double notes_left = 0;
  double top = 0;  // of the first row
  double width = 0;
  double height = 0;
  std::size_t largest_count = 1;  // of a group and class
  std::size_t largest_total = 1;  // of a group

  [[nodiscard]] double row(std::size_t group) const {
    return top + row_height * (static_cast<double>(group) + 0.5);
  }
  [[nodiscard]] double column(std::size_t label) const {
    return bubbles_left + column_width * (static_cast<double>(label) + 0.5);
  }
  // Class names stand upright where columns are too narrow for slanted ones.
  [[nodiscard]] bool upright() const { return column_width < 24; }
  [[nodiscard]] double bottom() const { return top + row_height * static_cast<double>(rows); }
  [[nodiscard]] double radius(std::size_t count) const {
    const double largest = 0.46 * std::min(row_height, column_width);
    return largest * std::sqrt(static_cast<double>(count) / static_cast<double>(largest_count));
  }
  [[nodiscard]] double length(std::size_t count) const {
    return bars_width * static_cast<double>(count) / static_cast<double>(largest_total);
  }
};

Layout layout_of(const SplitPreview& preview) {
  Layout layout;
  layout.rows = std::min(preview.groups.size(), most_rows);
  layout.classes = preview.class_names.size();
  std::size_t longest = 1;
  for (const std::string& name : preview.class_names) {
    longest = std::max(longest, std::min<std::size_t>(name.size(), 25));
  }
  for (std::size_t group = 0; group < layout.rows; ++group) {
    layout.largest_total = std::max(layout.largest_total, preview.groups[group].total());
    for (const std::size_t count : preview.groups[group].class_counts) {
      layout.largest_count = std::max(layout.largest_count, count);
    }
  }
  layout.row_height =
      std::clamp(480.0 / static_cast<double>(std::max<std::size_t>(layout.rows, 1)), 18.0, 46.0);
  layout.column_width =
      std::clamp(460.0 / static_cast<double>(std::max<std::size_t>(layout.classes, 1)), 14.0, 46.0);
  layout.bubbles_left = margin + 48;
  layout.bars_left = layout.bubbles_left + layout.column_width * static_cast<double>(layout.classes) + 40;
  layout.notes_left = layout.bars_left + layout.bars_width + 16;
  layout.top = 104 + (layout.upright() ? 7.5 : 5.4) * static_cast<double>(longest);
  layout.width = std::max(layout.notes_left + 216 + margin, 760.0);
  layout.height = layout.bottom() + 96;
  return layout;
}

std::string text_at(double x, double y, std::string_view style, std::string_view text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, style, text);
}

std::string heading(const SplitPreview& preview, const Layout& layout) {
  std::string svg = text_at(margin, 42, R"(font-size="20" font-weight="600")", "Who gets which data");
  svg += text_at(margin, 64, fmt::format(R"(font-size="13" fill="{}")", faint),
                 fmt::format("{}: {} among {} in {}; {} different samples", escaped(preview.words.data),
                             plural(preview.total(), "data point"),
                             escaped(plural(preview.num_members(), preview.words.member)),
                             escaped(plural(preview.groups.size(), preview.words.group)),
                             grouped(preview.num_distinct)));
  for (std::size_t label = 0; label < layout.classes; ++label) {
    const double x = layout.column(label);
    const double y = layout.top - 22;
    svg += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\" fill=\"{}\"/>\n"
        "<text transform=\"translate({:.1f} {:.1f}) rotate({})\" font-size=\"12\">{}</text>\n",
        x, layout.top - 10, colour_of(label), x + (layout.upright() ? 4 : 2), y, layout.upright() ? -90 : -40,
        escaped(preview.class_names[label], 24));
  }
  const std::string small = fmt::format(R"(font-size="12" fill="{}")", faint);
  svg +=
      text_at(layout.notes_left, layout.top - 22, small, "data points of a " + escaped(preview.words.member));
  svg += text_at(layout.notes_left, layout.top - 8, small, "least – mean – most");
  svg += text_at(layout.bars_left, layout.top - 8, small,
                 fmt::format("data points of a {}", escaped(preview.words.group)));
  return svg;
}

std::string row_of(const SplitPreview& preview, const Layout& layout, std::size_t index) {
  const GroupSplit& group = preview.groups[index];
  const double y = layout.row(index);
  const double bar = std::min(layout.row_height * 0.62, 22.0);
  std::string svg =
      fmt::format("<path d=\"M{:.1f} {:.1f}H{:.1f}\" stroke=\"{}\"/>\n", layout.bubbles_left, y,
                  layout.bubbles_left + layout.column_width * static_cast<double>(layout.classes), line);
  svg += text_at(layout.bubbles_left - 12, y + 4, R"(font-size="13" text-anchor="end")", escaped(group.name));
  double x = layout.bars_left;
  for (std::size_t label = 0; label < layout.classes; ++label) {
    const std::size_t count = group.class_counts[label];
    if (count == 0) {
      continue;
    }
    const std::string colour = colour_of(label);
    const std::string tip = fmt::format("<title>{}, {}: {}</title>", escaped(group.name),
                                        escaped(preview.class_names[label]), plural(count, "data point"));
    svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.2f}\" fill=\"{}\">{}</circle>\n",
                       layout.column(label), y, std::max(layout.radius(count), 0.8), colour, tip);
    const double length = layout.length(count);
    svg += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.1f}\" fill=\"{}\" stroke=\"#fff\" "
        "stroke-width=\"{}\">{}</rect>\n",
        x, y - bar / 2, length, bar, colour, length > 4 ? 1 : 0, tip);
    x += length;
  }
  const std::string numbers =
      group.quantities.size() == 1
          ? grouped(group.total())
          : fmt::format("{} – {} – {}", grouped(group.least()),
                        grouped(static_cast<std::size_t>(std::lround(group.mean()))), grouped(group.most()));
  svg += text_at(layout.notes_left, y + 4, "font-size=\"12\"",
                 fmt::format("{} <tspan fill=\"{}\">({})</tspan>", numbers, faint,
                             escaped(plural(group.quantities.size(), preview.words.member))));
  return svg;
}

// Bubbles of round sizes, and an axis under the bars.
std::string legend(const SplitPreview& preview, const Layout& layout) {
  const std::string small = fmt::format(R"(font-size="12" fill="{}")", faint);
  const double y = layout.bottom() + 34;
  std::string svg = text_at(layout.bubbles_left, y + 4, small, "bubble area:");
  double x = layout.bubbles_left + 84;
  const std::size_t large = round_down(layout.largest_count);
  for (const std::size_t count : {large, large / 4}) {
    if (count > 0) {
      const double radius = layout.radius(count);
      const std::string label = plural(count, "data point");
      svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.2f}\" fill=\"{}\"/>\n", x + radius, y,
                         radius, faint);
      svg += text_at(x + 2 * radius + 6, y + 4, small, label);
      x += 2 * radius + 6 + 7.0 * static_cast<double>(label.size()) + 20;
    }
  }
  const std::size_t step = std::max<std::size_t>(round_down(layout.largest_total) / 2, 1);
  for (std::size_t value = 0; value <= layout.largest_total; value += step) {
    const double tick = layout.bars_left + layout.length(value);
    svg += fmt::format("<path d=\"M{:.1f} {:.1f}V{:.1f}\" stroke=\"{}\"/>\n", tick, layout.top,
                       layout.bottom() + 6, line);
    svg += text_at(tick, layout.bottom() + 22, small + " text-anchor=\"middle\"", grouped(value));
  }
  if (preview.groups.size() > layout.rows) {
    svg += text_at(layout.bubbles_left, y + 34, small,
                   fmt::format("the first {} of {}", layout.rows,
                               escaped(plural(preview.groups.size(), preview.words.group))));
  }
  return svg;
}

}  // namespace

std::string to_svg(const SplitPreview& preview) {
  const Layout layout = layout_of(preview);
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} "
      "{1:.0f}\" font-family=\"system-ui, 'Segoe UI', Helvetica, Arial, sans-serif\" fill=\"{2}\" "
      "role=\"img\">\n"
      "<title>Who gets which data</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
      layout.width, layout.height, ink);
  svg += heading(preview, layout);
  svg += legend(preview, layout);
  for (std::size_t group = 0; group < layout.rows; ++group) {
    svg += row_of(preview, layout, group);
  }
  return svg + "</svg>\n";
}

}  // namespace skein
