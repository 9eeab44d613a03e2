#include "skein/planning/beam.h"

#include <algorithm>

#include "skein/base/expect.h"

namespace skein {

BeamPlanner::BeamPlanner(std::shared_ptr<const Environment> environment, const BeamOptions& options,
                         std::unique_ptr<Foresight> foresight)
    : ModelPlanner(std::move(environment)), options_(options), foresight_(std::move(foresight)) {
  expect(options.width > 0 && options.horizon > 0 && options.replan > 0, "a beam of nothing");
}

void BeamPlanner::begin(std::uint64_t seed) {
  ModelPlanner::begin(seed);
  steps_.clear();
  past_.clear();
}

std::size_t BeamPlanner::decide(std::span<const double> state, std::span<Site> destinations) {
  past_.emplace_back(state.begin(), state.end());
  const std::size_t window = foresight_ ? foresight_->window() : 1;
  if (past_.size() > window) {
    past_.erase(past_.begin());
  }
  // Something else may have happened than was foreseen.
  if (steps_.empty() || !std::ranges::equal(steps_.back().state, state)) {
    steps_ = search(state);
    const std::size_t kept = std::min(options_.replan, steps_.size());
    steps_.resize(kept);
    std::ranges::reverse(steps_);
  }
  const Step step = std::move(steps_.back());
  steps_.pop_back();
  std::ranges::copy(step.destinations, destinations.begin());
  return step.timing;
}

std::vector<std::span<const double>> BeamPlanner::history_of(std::span<const std::vector<Node>> levels,
                                                             std::size_t node) const {
  const std::size_t window = foresight_->window();
  std::vector<std::span<const double>> history;
  for (std::size_t depth = levels.size(); depth-- > 1 && history.size() < window;) {
    history.emplace_back(levels[depth][node].state);
    node = levels[depth][node].parent;
  }
  // The root is the last of the past.
  for (std::size_t i = past_.size(); i-- > 0 && history.size() < window;) {
    history.emplace_back(past_[i]);
  }
  std::ranges::reverse(history);
  return history;
}

std::vector<BeamPlanner::Child> BeamPlanner::best_children(const std::vector<std::vector<Node>>& levels,
                                                           std::vector<Choices>& choices) {
  const std::vector<Node>& last = levels.back();
  std::vector<Child> children;
  std::vector<double> future;
  for (std::size_t n = 0; n < last.size(); ++n) {
    finder().find(last[n].state, choices[n]);
    future.assign(choices[n].size(), 0.0);
    if (foresight_) {
      foresight_->look(history_of(levels, n), choices[n], future);
    }
    for (std::size_t i = 0; i < choices[n].size(); ++i) {
      children.push_back({last[n].total + choices[n].rewards[i] + future[i], static_cast<std::uint32_t>(n),
                          static_cast<std::uint32_t>(i)});
    }
  }
  const auto better = [](const Child& a, const Child& b) {
    return a.worth != b.worth ? a.worth > b.worth : a.node != b.node ? a.node < b.node : a.choice < b.choice;
  };
  const auto width = static_cast<std::ptrdiff_t>(std::min(options_.width, children.size()));
  std::partial_sort(children.begin(), children.begin() + width, children.end(), better);
  children.resize(static_cast<std::size_t>(width));
  return children;
}

std::vector<BeamPlanner::Step> BeamPlanner::search(std::span<const double> state) {
  const Environment& e = environment();
  std::vector<std::vector<Node>> levels;
  levels.push_back({Node{.state = {state.begin(), state.end()}}});
  std::vector<Choices> choices(options_.width);
  for (std::size_t depth = 0; depth < options_.horizon; ++depth) {
    const std::vector<Child> children = best_children(levels, choices);
    std::vector<Node> grown;
    for (const Child& child : children) {
      const Node& parent = levels.back()[child.node];
      const auto sites = choices[child.node].of(child.choice);
      Node node{.state = parent.state,
                .worth = child.worth,
                .parent = child.node,
                .destinations = {sites.begin(), sites.end()},
                .timing = choices[child.node].timings[child.choice]};
      node.total = parent.total + step(e, node.state, sites, node.timing).reward;
      grown.push_back(std::move(node));
    }
    levels.push_back(std::move(grown));
  }
  weighed(first_plans(levels));
  // The children are sorted: the best path ends in the first.
  std::vector<Step> steps;
  std::size_t node = 0;
  for (std::size_t depth = options_.horizon; depth > 0; --depth) {
    Node& here = levels[depth][node];
    node = here.parent;
    steps.push_back({.state = levels[depth - 1][node].state,
                     .destinations = std::move(here.destinations),
                     .timing = here.timing});
  }
  std::ranges::reverse(steps);
  return steps;
}

std::vector<Alternative> BeamPlanner::first_plans(std::span<const std::vector<Node>> levels) {
  std::vector<std::vector<std::size_t>> first{{0}};  // plan of each node, level by level
  for (std::size_t depth = 1; depth < levels.size(); ++depth) {
    std::vector<std::size_t>& plans = first.emplace_back();
    for (std::size_t n = 0; n < levels[depth].size(); ++n) {
      plans.push_back(depth == 1 ? n : first[depth - 1][levels[depth][n].parent]);
    }
  }
  std::vector<Alternative> found;
  std::vector<bool> seen(levels[1].size(), false);
  for (std::size_t depth = levels.size() - 1; depth > 0; --depth) {
    // Nodes of a level are sorted: the first of a plan is its best.
    for (std::size_t n = 0; n < levels[depth].size() && found.size() < most_alternatives; ++n) {
      const std::size_t plan = first[depth][n];
      if (!seen[plan]) {
        seen[plan] = true;
        found.push_back({levels[1][plan].destinations, levels[depth][n].worth, depth});
      }
    }
  }
  return found;
}

BeamOptions affordable(const BeamOptions& options, const Environment& e) {
  // Plans tried for one node: all of them, or some for each swarm and site.
  double plans = 1.0;
  for (std::size_t u = 0; u < e.num_swarms && plans < 1e6; ++u) {
    plans *= static_cast<double>(e.num_sites() - u);
  }
  const ChoiceOptions choice;
  const double work = plans <= static_cast<double>(choice.most_plans)
                          ? plans
                          : static_cast<double>(choice.assignment_width * e.num_swarms * e.num_sites());
  constexpr double most_work = 1.5e6;  // plans or parts of them, some 20 ns each
  BeamOptions result = options;
  while (work * static_cast<double>(result.width * result.horizon) > most_work &&
         result.width * result.horizon > 1) {
    std::size_t& larger = result.width >= result.horizon ? result.width : result.horizon;
    larger = larger * 3 / 4;
  }
  result.replan = std::min(result.replan, result.horizon);
  return result;
}

}  // namespace skein
