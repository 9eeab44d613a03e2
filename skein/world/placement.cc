#include "skein/world/placement.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <unordered_map>
#include <utility>

#include "skein/base/expect.h"

namespace skein {
namespace {

constexpr int attempts = 20;
constexpr int darts_per_point = 60;

// Points so far, in square cells as wide as the least distance: only nine cells can hold a near one.
class Neighbourhood {
 public:
  explicit Neighbourhood(double least) : least_(least) {}

  [[nodiscard]] bool is_free(double x, double y) const {
    const auto [cell_x, cell_y] = cell(x, y);
    for (std::int64_t dx = -1; dx <= 1; ++dx) {
      for (std::int64_t dy = -1; dy <= 1; ++dy) {
        const auto found = cells_.find(key(cell_x + dx, cell_y + dy));
        if (found != cells_.end() && std::ranges::any_of(found->second, [&](const Point& other) {
              return std::hypot(x - other.x, y - other.y) < least_;
            })) {
          return false;
        }
      }
    }
    return true;
  }

  void add(double x, double y) {
    const auto [cell_x, cell_y] = cell(x, y);
    cells_[key(cell_x, cell_y)].push_back({x, y});
  }

 private:
  struct Point {
    double x;
    double y;
  };
  struct Cell {
    std::int64_t x;
    std::int64_t y;
  };

  [[nodiscard]] Cell cell(double x, double y) const {
    return {static_cast<std::int64_t>(std::floor(x / least_)),
            static_cast<std::int64_t>(std::floor(y / least_))};
  }
  static std::int64_t key(std::int64_t x, std::int64_t y) { return x * 0x1'0000'0000 + y; }

  double least_;
  std::unordered_map<std::int64_t, std::vector<Point>> cells_;
};

Position ground(double x, double y) { return {Length(x), Length(y), Length(0.0)}; }

std::vector<Position> throw_darts(std::size_t count, const DistanceRange& range,
                                  std::span<const Position> given, RandomStream& stream) {
  Neighbourhood neighbourhood(range.least.si());
  Position centre;
  for (const Position& point : given) {
    neighbourhood.add(point.x.si(), point.y.si());
    centre.x += point.x / static_cast<double>(given.size());
    centre.y += point.y / static_cast<double>(given.size());
  }
  std::vector<Position> sites;
  while (sites.size() < count) {
    bool placed = false;
    for (int i = 0; i < darts_per_point && !placed; ++i) {
      const Position site = uniform_in_disc(centre, range.most / 2.0, stream);
      placed = neighbourhood.is_free(site.x.si(), site.y.si()) &&
               std::ranges::all_of(given,
                                   [&](const Position& p) { return ground_distance(p, site) <= range.most; });
      if (placed) {
        neighbourhood.add(site.x.si(), site.y.si());
        sites.push_back(site);
      }
    }
    if (!placed) {
      break;
    }
  }
  return sites;
}

// Hexagonal lattice points in the disc, the disc's centre being a point of the lattice, the middle of an edge
// or of a triangle: whichever holds the most.
std::vector<Position> lattice(double spacing, double radius) {
  const double row = spacing * std::sqrt(3.0) / 2.0;
  const auto rows = static_cast<std::int64_t>(radius / row) + 2;
  const auto columns = static_cast<std::int64_t>(radius / spacing) + 2;
  std::vector<Position> best;
  for (const auto& [shift_x, shift_y] :
       {std::pair{0.0, 0.0}, {spacing / 2.0, 0.0}, {spacing / 2.0, row / 3.0}}) {
    std::vector<Position> points;
    for (std::int64_t j = -rows; j <= rows; ++j) {
      for (std::int64_t i = -columns; i <= columns; ++i) {
        const double x = (static_cast<double>(i) + (j % 2 == 0 ? 0.0 : 0.5)) * spacing + shift_x;
        const double y = static_cast<double>(j) * row + shift_y;
        if (std::hypot(x, y) <= radius * (1.0 + 1e-9)) {
          points.push_back(ground(x, y));
        }
      }
    }
    if (points.size() > best.size()) {
      best = std::move(points);
    }
  }
  return best;
}

// The lattice of the widest spacing that still holds `count` points, in random order, each point moved
// within the slack.
std::vector<Position> hexagonal(std::size_t count, double least, double radius, RandomStream& stream) {
  double spacing = least;
  for (double wider = spacing * 1.01; wider <= 2.0 * radius && lattice(wider, radius).size() >= count;
       wider *= 1.01) {
    spacing = wider;
  }
  std::vector<Position> points = lattice(spacing, radius);
  stream.shuffle(points);
  points.resize(std::min(points.size(), count));
  const double jitter = (spacing - least) / 2.0;
  for (Position& point : points) {
    const Position moved = uniform_in_disc(point, Length(jitter), stream);
    if (std::hypot(moved.x.si(), moved.y.si()) <= radius) {
      point = moved;
    }
  }
  return points;
}

}  // namespace

Position uniform_in_disc(const Position& centre, Length radius, RandomStream& stream) {
  while (true) {
    const double x = stream.uniform(-1.0, 1.0);
    const double y = stream.uniform(-1.0, 1.0);
    if (x * x + y * y < 1.0) {
      return {centre.x + x * radius, centre.y + y * radius, Length(0.0)};
    }
  }
}

std::vector<Position> place_sites(std::size_t count, const DistanceRange& range,
                                  std::span<const Position> given, RandomStream& stream) {
  expect(range.least > Length(0.0) && range.most >= range.least, "place_sites needs 0 < least <= most");
  std::vector<Position> most;
  for (int attempt = 0; attempt < attempts && (attempt == 0 || most.size() < count); ++attempt) {
    std::vector<Position> sites = throw_darts(count, range, given, stream);
    if (attempt == 0 || sites.size() > most.size()) {
      most = std::move(sites);
    }
  }
  if (most.size() == count || !given.empty()) {
    return most;
  }
  return hexagonal(count, range.least.si(), range.most.si() / 2.0, stream);
}

}  // namespace skein
