#include "skein/world/map_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string_view>

namespace skein {
namespace {

// Okabe and Ito's palette: distinguishable with any colour vision.
constexpr std::array<std::string_view, 6> swarm_colours{"#0072B2", "#D55E00", "#009E73",
                                                        "#CC79A7", "#E69F00", "#56B4E9"};
constexpr std::string_view ink = "#22303c";
constexpr std::string_view faint = "#66737f";
constexpr double map_left = 64;
constexpr double map_top = 64;
constexpr double map_size = 760;
constexpr double side_left = map_left + map_size + 36;
constexpr double side_width = 344;
constexpr double width = side_left + side_width + 24;
constexpr double height = map_top + map_size + 76;
constexpr std::size_t most_close_ups = 3;
constexpr std::size_t most_labels = 60;
constexpr double rate_scale = 1e6;  // rates are shown in Mbit/s

std::string_view colour_of(std::size_t swarm) { return swarm_colours[swarm % swarm_colours.size()]; }

// A round number near `value`: 1, 2 or 5 times a power of ten.
double nice(double value) {
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  const double lead = value / power;
  return power * (lead < 1.5 ? 1.0 : lead < 3.5 ? 2.0 : lead < 7.5 ? 5.0 : 10.0);
}

// Metres of the world to points of the picture.
struct View {
  double centre_x;
  double centre_y;
  double scale;  // points per metre
  double left;
  double top;
  double size;

  [[nodiscard]] double x(const Position& p) const { return left + size / 2 + (p.x.si() - centre_x) * scale; }
  [[nodiscard]] double y(const Position& p) const { return top + size / 2 - (p.y.si() - centre_y) * scale; }
};

View view_of_all(const World& world) {
  double low_x = 1e300;
  double high_x = -1e300;
  double low_y = 1e300;
  double high_y = -1e300;
  const auto include = [&](const Position& p, double margin) {
    low_x = std::min(low_x, p.x.si() - margin);
    high_x = std::max(high_x, p.x.si() + margin);
    low_y = std::min(low_y, p.y.si() - margin);
    high_y = std::max(high_y, p.y.si() + margin);
  };
  for (const Cluster& cluster : world.clusters) {
    include(cluster.centre, cluster.radius.si());
  }
  for (const Station& station : world.stations) {
    include(station.position, 1.0);
  }
  for (const AccessPoint& access_point : world.access_points) {
    include(access_point.position, 1.0);
  }
  const double extent = std::max({high_x - low_x, high_y - low_y, 10.0}) * 1.12;
  return {(low_x + high_x) / 2, (low_y + high_y) / 2, map_size / extent, map_left, map_top, map_size};
}

class Picture {
 public:
  void add(std::string_view element) {
    text_ += element;
    text_ += '\n';
  }
  void line(double x1, double y1, double x2, double y2, std::string_view style) {
    add(fmt::format(R"(<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" {}/>)", x1, y1, x2, y2, style));
  }
  void circle(double x, double y, double r, std::string_view style) {
    add(fmt::format(R"(<circle cx="{:.1f}" cy="{:.1f}" r="{:.1f}" {}/>)", x, y, r, style));
  }
  void rect(double x, double y, double w, double h, std::string_view style) {
    add(fmt::format(R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" {}/>)", x, y, w, h, style));
  }
  void label(double x, double y, std::string_view words, std::string_view style) {
    add(fmt::format(R"(<text x="{:.1f}" y="{:.1f}" {}>{}</text>)", x, y, style, words));
  }
  // Words on a halo of the background, so that lines do not cross them.
  void halo_label(double x, double y, std::string_view words, std::string_view style) {
    label(x, y, words,
          fmt::format(R"({} stroke="#fbfaf7" stroke-width="4" stroke-linejoin="round" paint-order="stroke")",
                      style));
  }

  void device(double x, double y, double r) {
    circle(x, y, r, R"(fill="#7a8793" stroke="#fff" stroke-width="0.6")");
  }
  void leader(double x, double y, double r, std::string_view colour) {
    add(fmt::format(
        R"(<path d="M{0:.1f} {1:.1f}L{2:.1f} {3:.1f}L{0:.1f} {4:.1f}L{5:.1f} {3:.1f}Z" fill="{6}" stroke="#fff" stroke-width="1.2"/>)",
        x, y - 1.35 * r, x + 1.35 * r, y, y + 1.35 * r, x - 1.35 * r, colour));
  }
  void worker(double x, double y, double r, std::string_view colour) {
    rect(x - r, y - r, 2 * r, 2 * r,
         fmt::format(R"(rx="1.5" fill="{}" stroke="#fff" stroke-width="1.2")", colour));
  }
  void coordinator(double x, double y, double r, std::string_view colour) {
    add(fmt::format(
        R"(<path d="M{0:.1f} {1:.1f}L{2:.1f} {3:.1f}L{4:.1f} {3:.1f}Z" fill="#fff" stroke="{5}" stroke-width="2.2"/>)",
        x, y - 1.2 * r, x + 1.15 * r, y + 0.9 * r, x - 1.15 * r, colour));
  }
  void uav(Role role, double x, double y, double r, std::string_view colour) {
    switch (role) {
      case Role::leader:
        return leader(x, y, r, colour);
      case Role::worker:
        return worker(x, y, r, colour);
      case Role::coordinator:
        return coordinator(x, y, r, colour);
    }
  }
  void station(double x, double y) {
    rect(x - 10, y - 10, 20, 20, R"(rx="4" fill="#F0E442" stroke="#22303c" stroke-width="1.2")");
    add(fmt::format(R"(<path d="M{:.1f} {:.1f}l-5 9h5l-2 7l7 -10h-5l3 -6z" fill="#22303c"/>)", x + 0.5,
                    y - 8));
  }
  void access_point(double x, double y) {
    add(fmt::format(R"(<path d="M{0:.1f} {1:.1f}l-7 19h14z" fill="#22303c"/>)", x, y - 6));
    add(fmt::format(
        R"(<path d="M{:.1f} {:.1f}a9 9 0 0 1 16 0M{:.1f} {:.1f}a5 5 0 0 1 8 0" fill="none" stroke="#22303c" stroke-width="1.8"/>)",
        x - 8, y - 8, x - 4, y - 5));
  }

  [[nodiscard]] std::string finish(const std::string& title) const {
    return fmt::format(
        R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0:.0f} {1:.0f}" width="{0:.0f}" height="{1:.0f}" font-family="system-ui, 'DejaVu Sans', sans-serif" role="img" aria-label="{2}">
<title>{2}</title>
<rect width="100%" height="100%" fill="#ffffff"/>
{3}</svg>
)",
        width, height, title, text_);
  }

 private:
  std::string text_;
};

void draw_grid(Picture& picture, const View& view) {
  picture.rect(view.left, view.top, view.size, view.size, R"(fill="#fbfaf7" stroke="#c9ced3")");
  const double step = nice(view.size / view.scale / 8.0);
  const double half = view.size / 2.0 / view.scale;
  for (double at = std::ceil((view.centre_x - half) / step) * step; at <= view.centre_x + half; at += step) {
    const double x = view.left + view.size / 2 + (at - view.centre_x) * view.scale;
    picture.line(x, view.top, x, view.top + view.size, R"(stroke="#e6e6e0")");
    picture.label(x, view.top + view.size + 17, fmt::format("{:g}", at + 0.0),
                  fmt::format(R"(font-size="12" text-anchor="middle" fill="{}")", faint));
  }
  for (double at = std::ceil((view.centre_y - half) / step) * step; at <= view.centre_y + half; at += step) {
    const double y = view.top + view.size / 2 - (at - view.centre_y) * view.scale;
    picture.line(view.left, y, view.left + view.size, y, R"(stroke="#e6e6e0")");
    picture.label(view.left - 7, y + 4, fmt::format("{:g}", at + 0.0),
                  fmt::format(R"(font-size="12" text-anchor="end" fill="{}")", faint));
  }
  picture.label(view.left + view.size / 2, view.top + view.size + 36, "east (m)",
                fmt::format(R"(font-size="13" text-anchor="middle" fill="{}")", ink));
  picture.label(
      18, view.top + view.size / 2, "north (m)",
      fmt::format(R"x(font-size="13" text-anchor="middle" fill="{}" transform="rotate(-90 18 {:.1f})")x", ink,
                  view.top + view.size / 2));
}

void draw_scale_bar(Picture& picture, const View& view) {
  const double metres = nice(view.size / view.scale / 5.0);
  const double x = view.left + 16;
  const double y = view.top + view.size - 16;
  picture.rect(x, y - 5, metres * view.scale, 5, fmt::format(R"(fill="{}")", ink));
  picture.halo_label(x, y - 11,
                     metres >= 1000 ? fmt::format("{:g} km", metres / 1000) : fmt::format("{:g} m", metres),
                     fmt::format(R"(font-size="12" fill="{}")", ink));
}

void draw_map(Picture& picture, const World& world, const View& view, const std::vector<SwarmLinks>& links) {
  draw_grid(picture, view);
  const bool labels = world.num_sites() <= most_labels;
  for (const SwarmLinks& link : links) {
    const Position& from = world.clusters[link.cluster].centre;
    const Position& to = world.access_points[link.access_point].position;
    picture.line(
        view.x(from), view.y(from), view.x(to), view.y(to),
        fmt::format(R"(stroke="{}" stroke-width="1.8" stroke-dasharray="3 5" stroke-linecap="round")",
                    colour_of(link.swarm)));
  }
  for (std::size_t c = 0; c < world.clusters.size(); ++c) {
    const Cluster& cluster = world.clusters[c];
    const auto here = std::ranges::find(links, c, &SwarmLinks::cluster);
    const double x = view.x(cluster.centre);
    const double y = view.y(cluster.centre);
    const double r = std::max(cluster.radius.si() * view.scale, 4.0);
    picture.circle(x, y, r,
                   here == links.end()
                       ? std::string(R"(fill="#dfe8ec" stroke="#9fb0ba")")
                       : fmt::format(R"(fill="{0}" fill-opacity="0.13" stroke="{0}" stroke-width="2.2")",
                                     colour_of(here->swarm)));
    for (std::size_t i = cluster.devices.first; i < cluster.devices.end(); ++i) {
      picture.device(view.x(world.devices[i].position), view.y(world.devices[i].position),
                     std::min(1.9, r / 4));
    }
    if (here != links.end()) {
      const std::vector<Position> points = hover_points(world, here->swarm, c);
      for (std::size_t i = 0; i < points.size(); ++i) {
        picture.uav(world.uavs[world.swarms[here->swarm].leader + i].role, view.x(points[i]),
                    view.y(points[i]), std::min(3.6, r / 3), colour_of(here->swarm));
      }
    }
    if (labels) {
      picture.halo_label(x, y - r - 6,
                         here == links.end()
                             ? world.site_name(c)
                             : fmt::format("{} · swarm {}", world.site_name(c), here->swarm + 1),
                         fmt::format(R"(font-size="14" font-weight="600" text-anchor="middle" fill="{}")",
                                     here == links.end() ? ink : colour_of(here->swarm)));
    }
  }
  for (std::size_t r = 0; r < world.stations.size(); ++r) {
    const Position& p = world.stations[r].position;
    picture.station(view.x(p), view.y(p));
    if (labels) {
      picture.halo_label(
          view.x(p), view.y(p) - 16, world.site_name(world.clusters.size() + r),
          fmt::format(R"(font-size="14" font-weight="600" text-anchor="middle" fill="{}")", ink));
    }
  }
  for (std::size_t a = 0; a < world.access_points.size(); ++a) {
    const Position& p = world.access_points[a].position;
    picture.access_point(view.x(p), view.y(p));
    if (labels) {
      picture.halo_label(view.x(p) + 13, view.y(p) + 10, fmt::format("A:{}", a + 1),
                         fmt::format(R"(font-size="14" font-weight="600" fill="{}")", ink));
    }
  }
  draw_scale_bar(picture, view);
}

// Lowest and highest rate, in words.
std::string rate_words(const std::vector<DataRate>& rates) {
  if (rates.empty()) {
    return "none";
  }
  const auto [low, high] = std::ranges::minmax(rates);
  return fmt::format("{:.1f} to {:.1f} Mbit/s", low.si() / rate_scale, high.si() / rate_scale);
}

// One swarm above its cluster: each device's fastest link, relays to workers, uploads to the leader.
void draw_close_up(Picture& picture, const World& world, const SwarmLinks& link, double top, double size) {
  const Cluster& cluster = world.clusters[link.cluster];
  const Swarm& swarm = world.swarms[link.swarm];
  const std::vector<Position> points = hover_points(world, link.swarm, link.cluster);
  const std::string_view colour = colour_of(link.swarm);
  const View view{
      cluster.centre.x.si(), cluster.centre.y.si(), size / (2.3 * cluster.radius.si()), side_left, top, size};
  const auto at = [&](std::size_t uav) -> const Position& { return points[uav - swarm.leader]; };
  const auto connect = [&](const Position& a, const Position& b, std::string_view style) {
    picture.line(view.x(a), view.y(a), view.x(b), view.y(b), style);
  };
  picture.circle(view.x(cluster.centre), view.y(cluster.centre), cluster.radius.si() * view.scale,
                 fmt::format(R"(fill="{0}" fill-opacity="0.08" stroke="{0}" stroke-width="1.5")", colour));
  for (std::size_t j = swarm.workers.first; j < swarm.workers.end(); ++j) {
    connect(at(j), at(swarm.leader),
            fmt::format(R"(stroke="{}" stroke-opacity="0.55" stroke-width="1.2")", colour));
  }
  for (std::size_t h = 0; h < swarm.coordinators.count; ++h) {
    for (std::size_t j = 0; j < swarm.workers.count; ++j) {
      connect(at(swarm.coordinators.first + h), at(swarm.workers.first + j),
              fmt::format(R"(stroke="{}" stroke-opacity="0.55" stroke-width="1.2" stroke-dasharray="4 3")",
                          colour));
    }
  }
  for (std::size_t i = 0; i < cluster.devices.count; ++i) {
    std::size_t best = 0;
    for (std::size_t j = 1; j < link.device_to_uav.columns; ++j) {
      best = link.device_to_uav(i, j) > link.device_to_uav(i, best) ? j : best;
    }
    connect(world.devices[cluster.devices.first + i].position, at(swarm.workers.first + best),
            R"(stroke="#7a8793" stroke-width="1" stroke-dasharray="1.5 2.5")");
  }
  for (std::size_t j = swarm.leader; j < swarm.coordinators.end(); ++j) {
    picture.uav(world.uavs[j].role, view.x(at(j)), view.y(at(j)), 5.4, colour);
  }
  for (std::size_t i = cluster.devices.first; i < cluster.devices.end(); ++i) {
    picture.device(view.x(world.devices[i].position), view.y(world.devices[i].position), 3.2);
  }

  const double text_left = side_left + size + 12;
  double y = top + 20;
  const auto write = [&](std::string_view words, std::string_view style) {
    picture.label(text_left, y, words, style);
    y += 17;
  };
  const std::string plain = fmt::format(R"(font-size="12" fill="{}")", ink);
  const std::string small = fmt::format(R"(font-size="11" fill="{}")", faint);
  write(fmt::format("Swarm {} above {}", link.swarm + 1, world.site_name(link.cluster)),
        fmt::format(R"(font-size="14" font-weight="600" fill="{}")", colour));
  write(fmt::format("{} workers, {} coordinators", swarm.workers.count, swarm.coordinators.count), plain);
  write(fmt::format("{} devices in {:.0f} m", cluster.devices.count, cluster.radius.si()), plain);
  y += 4;
  write("device to UAV", small);
  write(rate_words(link.device_to_uav.values), plain);
  write("coordinator to worker", small);
  write(rate_words(link.coordinator_to_worker.values), plain);
  write("to access point", small);
  write(fmt::format("{:.0f} m to A:{}", link.access_point_distance.si(), link.access_point + 1), plain);
}

void draw_legend(Picture& picture, double top) {
  const std::string words = fmt::format(R"(font-size="12" fill="{}")", ink);
  const std::string_view grey = "#5b6873";
  const double left = side_left;
  const double right = side_left + side_width / 2;
  const auto row = [&](int n) { return top + 22.0 * n; };
  picture.leader(left + 8, row(0), 5, grey);
  picture.label(left + 24, row(0) + 4, "leader", words);
  picture.worker(left + 8, row(1), 5, grey);
  picture.label(left + 24, row(1) + 4, "worker: trains", words);
  picture.coordinator(left + 8, row(2), 5, grey);
  picture.label(left + 24, row(2) + 4, "coordinator: relays", words);
  picture.device(left + 8, row(3), 3.2);
  picture.label(left + 24, row(3) + 4, "device", words);
  picture.station(right + 8, row(0) + 3);
  picture.label(right + 28, row(0) + 7, "recharging station", words);
  picture.access_point(right + 8, row(1) + 4);
  picture.label(right + 28, row(1) + 12, "access point", words);
  picture.line(
      right, row(3) - 9, right + 20, row(3) - 9,
      fmt::format(R"(stroke="{}" stroke-width="1.8" stroke-dasharray="3 5" stroke-linecap="round")", grey));
  picture.label(right + 28, row(3) - 5, "leader's flight", words);
}

}  // namespace

std::string world_svg(const World& world, const std::vector<SwarmLinks>& links) {
  Picture picture;
  const View view = view_of_all(world);
  const std::string title =
      fmt::format("{} clusters, {} stations, {} access points, {} swarms of {} UAVs, {} devices",
                  world.clusters.size(), world.stations.size(), world.access_points.size(),
                  world.swarms.size(), world.uavs.size(), world.devices.size());
  picture.label(map_left, 40, title, fmt::format(R"(font-size="19" font-weight="600" fill="{}")", ink));
  picture.label(side_left + side_width, 40, fmt::format("seed {}", world.seed),
                fmt::format(R"(font-size="13" text-anchor="end" fill="{}")", faint));
  draw_map(picture, world, view, links);

  constexpr double close_up_size = 170;
  constexpr double close_up_pitch = 208;
  const std::size_t shown = std::min(links.size(), most_close_ups);
  for (std::size_t i = 0; i < shown; ++i) {
    draw_close_up(picture, world, links[i], map_top + close_up_pitch * static_cast<double>(i), close_up_size);
  }
  if (shown < links.size()) {
    picture.label(side_left, map_top + close_up_pitch * static_cast<double>(shown) - 8,
                  fmt::format("and {} more swarms", links.size() - shown),
                  fmt::format(R"(font-size="12" fill="{}")", faint));
  }
  draw_legend(picture, map_top + close_up_pitch * most_close_ups + 40);
  return picture.finish(title);
}

}  // namespace skein
