// Rolling-horizon beam search on the environment's model.
//
// From the state of now, all legal plans are tried; of what they lead to the best few are kept, and so on up
// to the horizon. The first plans of the best path are carried out, then the search starts anew. What a
// path is worth is the sum of its rewards, and with a Foresight what comes after it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "skein/planning/model_planner.h"

namespace skein {

// What the future after a plan is worth, beside the plan's own reward.
class Foresight {
 public:
  Foresight() = default;
  virtual ~Foresight() = default;
  Foresight(const Foresight&) = delete;
  Foresight& operator=(const Foresight&) = delete;
  Foresight(Foresight&&) = delete;
  Foresight& operator=(Foresight&&) = delete;

  // Of every choice in the last state of `history` (oldest first, at least one). May be called for different
  // histories by different threads only on different objects.
  virtual void look(std::span<const std::span<const double>> history, const Choices& choices,
                    std::span<double> worth) = 0;
  // How many states of history it looks at.
  [[nodiscard]] virtual std::size_t window() const = 0;
};

class BeamPlanner final : public ModelPlanner {
 public:
  BeamPlanner(std::shared_ptr<const Environment> environment, const BeamOptions& options,
              std::unique_ptr<Foresight> foresight = nullptr);

  void begin(std::uint64_t seed) override;

 protected:
  std::size_t decide(std::span<const double> state, std::span<Site> destinations) override;

 private:
  struct Step {
    std::vector<double> state;  // in which it is taken
    std::vector<Site> destinations;
    std::size_t timing = 0;
  };
  struct Node {
    std::vector<double> state;
    double total = 0.0;      // rewards so far
    double worth = 0.0;      // total and the future
    std::size_t parent = 0;  // in the level before
    std::vector<Site> destinations;
    std::size_t timing = 0;
  };
  struct Child {
    double worth;
    std::uint32_t node;
    std::uint32_t choice;
  };
  [[nodiscard]] std::vector<Step> search(std::span<const double> state);
  // What each first plan of the search is worth: of the best path that begins with it, as far as that one was
  // followed.
  [[nodiscard]] static std::vector<Alternative> first_plans(std::span<const std::vector<Node>> levels);
  [[nodiscard]] std::vector<std::span<const double>> history_of(std::span<const std::vector<Node>> levels,
                                                                std::size_t node) const;
  [[nodiscard]] std::vector<Child> best_children(const std::vector<std::vector<Node>>& levels,
                                                 std::vector<Choices>& choices);

  BeamOptions options_;
  std::unique_ptr<Foresight> foresight_;
  std::vector<Step> steps_;                // still to be carried out, the next one last
  std::vector<std::vector<double>> past_;  // states seen, oldest first
};

// For worlds that are too large for the width and horizon asked for: so narrow and short that a decision
// stays within some 30 ms.
BeamOptions affordable(const BeamOptions& options, const Environment& environment);

}  // namespace skein
