#include "skein/offloading/offloaders.h"

#include <algorithm>
#include <array>

#include "skein/base/expect.h"
#include "skein/base/names.h"
#include "skein/offloading/condensed_offloader.h"
#include "skein/offloading/newton_offloader.h"
#include "skein/offloading/restrictions.h"
#include "skein/offloading/worker_selection.h"

namespace skein {
namespace {

struct NamedOffloader {
  std::string_view name;
  std::unique_ptr<Offloader> (*make)(std::string_view name);
  bool decides_all_shares = true;
};

template <OffloadRestrictions (*restrictions)()>
std::unique_ptr<Offloader> make_restricted(std::string_view name) {
  return std::make_unique<NewtonOffloader>(NewtonOptions{.restrictions = restrictions()}, name);
}

std::unique_ptr<Offloader> make_newton(std::string_view) { return std::make_unique<NewtonOffloader>(); }
std::unique_ptr<Offloader> make_condensed(std::string_view) { return std::make_unique<CondensedOffloader>(); }
std::unique_ptr<Offloader> make_selection(std::string_view) { return std::make_unique<WorkerSelection>(); }

constexpr std::array offloaders{
    NamedOffloader{"newton", make_newton},          // Newton's method on P itself, from several starts
    NamedOffloader{"algorithm_1", make_condensed},  // the paper's
    // All data spread evenly, at least an even share relayed.
    NamedOffloader{"greedy", make_restricted<greedy_offloading>, false},
    // All data spread evenly, all of it processed at full speed.
    NamedOffloader{"maximum_processing", make_restricted<maximum_processing>, false},
    NamedOffloader{"worker_selection", make_selection},  // which workers to use at all, then newton
};

const NamedOffloader& find(std::string_view name) {
  const auto* const found = std::ranges::find(offloaders, name, &NamedOffloader::name);
  expect(found != offloaders.end(), "no offloader of this name");
  return *found;
}

}  // namespace

std::vector<std::string_view> offloader_names() { return names_in(offloaders); }

bool decides_all_shares(std::string_view name) { return find(name).decides_all_shares; }

std::unique_ptr<Offloader> build_offloader(std::string_view name) {
  const NamedOffloader& offloader = find(name);
  return offloader.make(offloader.name);
}

}  // namespace skein
