#include "skein/planning/trajectory_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace skein {
namespace {

// Okabe and Ito's palette: distinguishable with any colour vision.
constexpr std::array<std::string_view, 6> colours{"#0072B2", "#D55E00", "#009E73",
                                                  "#CC79A7", "#E69F00", "#56B4E9"};
constexpr std::string_view ink = "#22303c";
constexpr std::string_view faint = "#66737f";
constexpr double map_left = 40;
constexpr double map_top = 64;
constexpr double map_size = 640;
constexpr double chart_left = map_left + map_size + 70;
constexpr double chart_width = 400;
constexpr double width = chart_left + chart_width + 30;
constexpr double height = map_top + map_size + 50;

// The eigenvector of the largest eigenvalue, by the power method, and that value.
double largest_eigenvector(const std::vector<double>& matrix, std::size_t n, std::vector<double>& vector) {
  vector.assign(n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    vector[i] = 1.0 + 0.37 * static_cast<double>(i % 7);
  }
  double value = 0.0;
  for (int round = 0; round < 2000; ++round) {
    std::vector<double> next(n, 0.0);
    double norm = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        next[i] += matrix[i * n + j] * vector[j];
      }
      norm += next[i] * next[i];
    }
    norm = std::sqrt(norm);
    if (norm < 1e-12) {
      return 0.0;
    }
    for (std::size_t i = 0; i < n; ++i) {
      vector[i] = next[i] / norm;
    }
    value = norm;
  }
  return value;
}

struct View {
  double low_x = 1e300;
  double low_y = 1e300;
  double scale = 1.0;
  double extent_y = 0.0;

  explicit View(const std::vector<std::array<double, 2>>& places) {
    double high_x = -1e300;
    double high_y = -1e300;
    for (const auto& place : places) {
      low_x = std::min(low_x, place[0]);
      low_y = std::min(low_y, place[1]);
      high_x = std::max(high_x, place[0]);
      high_y = std::max(high_y, place[1]);
    }
    const double extent = std::max({high_x - low_x, high_y - low_y, 1.0}) * 1.16;
    low_x = (low_x + high_x - extent) / 2;
    low_y = (low_y + high_y - extent) / 2;
    scale = map_size / extent;
  }
  [[nodiscard]] double x(const std::array<double, 2>& p) const { return map_left + (p[0] - low_x) * scale; }
  [[nodiscard]] double y(const std::array<double, 2>& p) const {
    return map_top + map_size - (p[1] - low_y) * scale;
  }
};

void add_legs(std::string& svg, const Environment& e, const View& view,
              const std::vector<std::array<double, 2>>& places, std::span<const double> start,
              std::span<const EpochRecord> records) {
  for (std::size_t u = 0; u < e.num_swarms; ++u) {
    std::map<std::pair<Site, Site>, std::size_t> legs;
    auto from = static_cast<Site>(start[u]);
    for (const EpochRecord& record : records) {
      const Site to = record.plan.destinations[u];
      if (to != from) {
        ++legs[{from, to}];
      }
      from = to;
    }
    for (const auto& [leg, count] : legs) {
      const auto& a = places[leg.first];
      const auto& b = places[leg.second];
      // Bowed to the left of the flight, each swarm by its own amount, so that ways there and back are apart.
      const double bow = 0.06 + 0.05 * static_cast<double>(u);
      const double mid_x = (view.x(a) + view.x(b)) / 2 + bow * (view.y(b) - view.y(a));
      const double mid_y = (view.y(a) + view.y(b)) / 2 - bow * (view.x(b) - view.x(a));
      svg += fmt::format(
          R"x(<path d="M{:.1f} {:.1f}Q{:.1f} {:.1f} {:.1f} {:.1f}" fill="none" stroke="{}" stroke-width="{:.1f}" stroke-opacity="0.75" marker-end="url(#arrow{})"/>)x"
          "\n",
          view.x(a), view.y(a), mid_x, mid_y, view.x(b), view.y(b), colours[u % colours.size()],
          1.0 + std::log2(static_cast<double>(count) + 1.0), u % colours.size());
    }
  }
}

void add_sites(std::string& svg, const Environment& e, const View& view,
               const std::vector<std::array<double, 2>>& places, std::span<const EpochRecord> records) {
  std::vector<std::size_t> dwell(e.num_sites(), 0);
  for (const EpochRecord& record : records) {
    for (const Site site : record.plan.destinations) {
      ++dwell[site];
    }
  }
  for (std::size_t site = 0; site < e.num_sites(); ++site) {
    const double x = view.x(places[site]);
    const double y = view.y(places[site]);
    const double r =
        9.0 + 22.0 * std::sqrt(static_cast<double>(dwell[site]) / static_cast<double>(records.size()));
    if (e.is_station(site)) {
      svg += fmt::format(
          R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" rx="3" fill="#fff6d6" stroke="#b8860b" stroke-width="2"/>)"
          "\n",
          x - r, y - r, 2 * r, 2 * r);
    } else {
      svg += fmt::format(
          R"(<circle cx="{:.1f}" cy="{:.1f}" r="{:.1f}" fill="#eef2f5" stroke="{}" stroke-width="1.5"/>)"
          "\n",
          x, y, r, faint);
    }
    svg += fmt::format(
        R"(<text x="{:.1f}" y="{:.1f}" text-anchor="middle" font-weight="600" fill="{}">{}</text>)"
        R"(<text x="{:.1f}" y="{:.1f}" text-anchor="middle" font-size="11" fill="{}">{} sequence{}</text>)"
        "\n",
        x, y + 4, ink, e.site_name(site), x, y + r + 13, faint, dwell[site], dwell[site] == 1 ? "" : "s");
  }
}

void add_batteries(std::string& svg, const Environment& e, std::span<const double> start,
                   std::span<const EpochRecord> records) {
  const StateLayout at(e);
  const std::size_t shown = std::min<std::size_t>(e.num_swarms, colours.size());
  const double each = map_size / static_cast<double>(shown);
  for (std::size_t u = 0; u < shown; ++u) {
    const double top = map_top + static_cast<double>(u) * each + 22;
    const double tall = each - 46;
    const auto y = [&](double joules) {
      return top + tall * (1.0 - std::max(0.0, joules) / e.capacity_j[u]);
    };
    const auto x = [&](std::size_t epoch) {
      return chart_left + chart_width * static_cast<double>(epoch) / static_cast<double>(records.size());
    };
    svg += fmt::format(
        R"(<rect x="{0:.1f}" y="{1:.1f}" width="{2:.1f}" height="{3:.1f}" fill="#fff" stroke="#d5dbe0"/>)"
        R"(<text x="{0:.1f}" y="{4:.1f}" fill="{5}">Swarm {6}: battery in kJ, threshold {7:.1f}</text>)"
        R"(<line x1="{0:.1f}" x2="{8:.1f}" y1="{9:.1f}" y2="{9:.1f}" stroke="{10}" stroke-dasharray="5 4"/>)"
        R"(<text x="{11:.1f}" y="{12:.1f}" text-anchor="end" font-size="11" fill="{10}">{13:.1f}</text>)"
        R"(<text x="{11:.1f}" y="{14:.1f}" text-anchor="end" font-size="11" fill="{10}">0</text>)"
        "\n",
        chart_left, top, chart_width, tall, top - 7, ink, u + 1, e.threshold_j[u] / 1e3,
        chart_left + chart_width, y(e.threshold_j[u]), faint, chart_left - 6, top + 10, e.capacity_j[u] / 1e3,
        top + tall);
    std::string points = fmt::format("{:.1f},{:.1f}", x(0), y(start[at.battery() + u]));
    for (std::size_t i = 0; i < records.size(); ++i) {
      points += fmt::format(" {:.1f},{:.1f}", x(i + 1), y(records[i].state[at.battery() + u]));
    }
    svg += fmt::format(R"(<polyline points="{}" fill="none" stroke="{}" stroke-width="2"/>)"
                       "\n",
                       points, colours[u % colours.size()]);
  }
  svg += fmt::format(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="end" fill="{}">{} training sequences</text>)"
                     "\n",
                     chart_left + chart_width, map_top + map_size + 20, faint, records.size());
}

}  // namespace

std::vector<std::array<double, 2>> site_places(const Environment& e) {
  if (!e.places_m.empty()) {
    return e.places_m;
  }
  const std::size_t n = e.num_sites();
  // B = -1/2 J D^2 J with the centring matrix J; its eigenvectors times the roots of its eigenvalues.
  std::vector<double> squares(n * n);
  std::vector<double> row(n, 0.0);
  double all = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      const double distance = i == j ? 0.0 : (e.distance(i, j) + e.distance(j, i)) / 2;
      squares[i * n + j] = distance * distance;
      row[i] += squares[i * n + j] / static_cast<double>(n);
    }
    all += row[i] / static_cast<double>(n);
  }
  std::vector<double> b(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      b[i * n + j] = -0.5 * (squares[i * n + j] - row[i] - row[j] + all);
    }
  }
  std::vector<std::array<double, 2>> places(n);
  for (std::size_t axis = 0; axis < 2; ++axis) {
    std::vector<double> vector;
    const double value = largest_eigenvector(b, n, vector);
    for (std::size_t i = 0; i < n; ++i) {
      places[i][axis] = vector[i] * std::sqrt(value);
      for (std::size_t j = 0; j < n; ++j) {
        b[i * n + j] -= value * vector[i] * vector[j];
      }
    }
  }
  return places;
}

std::string trajectory_svg(const Environment& e, std::span<const double> start,
                           std::span<const EpochRecord> records, const std::string& title) {
  const std::vector<std::array<double, 2>> places = site_places(e);
  const View view(places);
  std::string svg = fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0:.0f} {1:.0f}" width="{0:.0f}" height="{1:.0f}" font-family="sans-serif" font-size="13">)"
      "\n"
      R"(<rect width="100%" height="100%" fill="#fbfaf7"/><text x="{2}" y="34" font-size="18" font-weight="600" fill="{3}">{4}</text>)"
      "\n<defs>",
      width, height, map_left, ink, title);
  for (std::size_t i = 0; i < colours.size(); ++i) {
    svg += fmt::format(
        R"(<marker id="arrow{}" viewBox="0 0 10 10" refX="22" refY="5" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0L10 5L0 10z" fill="{}"/></marker>)",
        i, colours[i]);
  }
  svg += "</defs>\n";
  add_legs(svg, e, view, places, start, records);
  add_sites(svg, e, view, places, records);
  const double bar = 500.0 * view.scale;
  svg += fmt::format(
      R"(<line x1="{0}" x2="{1:.1f}" y1="{2}" y2="{2}" stroke="{3}" stroke-width="2"/><text x="{0}" y="{4}" fill="{3}">500 m; thicker legs were flown more often</text>)"
      "\n",
      map_left, map_left + bar, map_top + map_size + 12, faint, map_top + map_size + 30);
  add_batteries(svg, e, start, records);
  return svg + "</svg>\n";
}

}  // namespace skein
