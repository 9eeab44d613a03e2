#include "tests/project/rooms_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tests/project/rooms.h"

namespace skein {
namespace {

constexpr double width = 1000.0;
constexpr double box_width = 222.0;
constexpr double box_height = 50.0;
constexpr double row_height = 92.0;
constexpr double margin = 20.0;

struct Box {
  Room room;
  std::size_t level = 0;
  double x = 0.0;  // of its middle
  double y = 0.0;  // of its top
};

// What stands on top of all rooms: programs and the library's users.
Room top() {
  std::set<std::string> all;
  for (const Room& room : rooms()) {
    all.insert(room.name);
  }
  return {"apps, adapters, examples", "parse, call, print", all};
}

std::set<std::string> sees(const Room& room) {
  std::set<std::string> names = room.sees;
  names.merge(room.seen_in_part());
  if (room.name != "base") {
    names.insert("base");
  }
  return names;
}

// Every room stands above all that it sees.
std::map<std::string, Box> levels() {
  std::map<std::string, Box> boxes;
  std::vector<Room> list = rooms();
  list.push_back(top());
  for (const Room& room : list) {
    Box& box = boxes[room.name];
    box.room = room;
    for (const std::string& below : sees(room)) {
      box.level = std::max(box.level, boxes.at(below).level + 1);
    }
  }
  return boxes;
}

void place(std::map<std::string, Box>& boxes) {
  std::size_t highest = 0;
  for (const auto& [name, box] : boxes) {
    highest = std::max(highest, box.level);
  }
  std::vector<Room> order = rooms();
  order.push_back(top());
  for (std::size_t level = 0; level <= highest; ++level) {
    std::vector<Box*> row;
    for (const Room& room : order) {
      if (boxes.at(room.name).level == level) {
        row.push_back(&boxes.at(room.name));
      }
    }
    for (std::size_t i = 0; i < row.size(); ++i) {
      row[i]->x = width * (static_cast<double>(i) + 0.5) / static_cast<double>(row.size());
      row[i]->y = margin + static_cast<double>(highest - level) * row_height;
    }
  }
}

// Whether `from` sees `to` through a room between them.
bool is_implied(const std::map<std::string, Box>& boxes, const std::string& from, const std::string& to) {
  return std::ranges::any_of(sees(boxes.at(from).room), [&](const std::string& between) {
    return between != to && sees(boxes.at(between).room).contains(to);
  });
}

std::string line(const Box& from, const Box& to, bool dashed) {
  const double top = from.y + box_height;
  const double bend = 0.5 * (to.y - top);
  return fmt::format(
      "<path d=\"M {:.1f} {:.1f} C {:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}\" class=\"sees{}\"/>\n", from.x,
      top, from.x, top + bend, to.x, to.y - bend, to.x, to.y, dashed ? " part" : "");
}

std::string box_of(const Box& box) {
  const double left = box.x - 0.5 * box_width;
  return fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.0f}\" height=\"{:.0f}\" rx=\"6\"/>\n"
      "<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"name\">{}</text>\n"
      "<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
      left, box.y, box_width, box_height, box.x, box.y + 21.0, box.room.name, box.x, box.y + 38.0,
      box.room.purpose);
}

}  // namespace

std::string rooms_svg() {
  std::map<std::string, Box> boxes = levels();
  place(boxes);
  double height = 0.0;
  for (const auto& [name, box] : boxes) {
    height = std::max(height, box.y + box_height + margin);
  }
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\" font-family=\"sans-serif\">\n"
      "<style>rect {{ fill: #eef4fb; stroke: #35608f; }} text {{ font-size: 10px; text-anchor: middle; fill: "
      "#333; }} .name {{ font-size: 14px; font-weight: bold; fill: #123; }} .sees {{ fill: none; stroke: "
      "#7a8aa0; }} .part {{ stroke-dasharray: 4 3; }}</style>\n"
      "<rect x=\"0\" y=\"0\" width=\"{:.0f}\" height=\"{:.0f}\" style=\"fill: white; stroke: none\"/>\n",
      width, height, width, height);
  for (const auto& [name, box] : boxes) {
    for (const std::string& below : sees(box.room)) {
      if (!is_implied(boxes, name, below)) {
        svg += line(box, boxes.at(below), box.room.seen_in_part().contains(below));
      }
    }
  }
  for (const auto& [name, box] : boxes) {
    svg += box_of(box);
  }
  return svg + "</svg>\n";
}

}  // namespace skein
