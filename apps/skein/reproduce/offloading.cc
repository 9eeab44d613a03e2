// The paper's offloading study (section VI-B): how the decision changes with the weight of learning, and what
// it saves against greedy offloading and maximum processing, on the same networks for all.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "apps/skein/ranks.h"
#include "apps/skein/reproduce/figure.h"
#include "apps/skein/reproduce/reproduce.h"
#include "skein/base/digest.h"
#include "skein/base/file.h"
#include "skein/base/interval.h"
#include "skein/mission/agreement.h"
#include "skein/mission/build.h"
#include "skein/offloading/condensed_offloader.h"
#include "skein/offloading/offloaders.h"
#include "skein/offloading/swarm_problem.h"

namespace skein::app {
namespace {

namespace fs = std::filesystem;

enum Method : std::size_t { newton, selection, converged, published_way, greedy, maximum, num_methods };
constexpr std::array<const char*, num_methods> titles{"ours",
                                                      "ours, workers selected",
                                                      "Algorithm 1, converged",
                                                      "Algorithm 1, two condensations",
                                                      "greedy offloading",
                                                      "maximum processing"};

std::array<std::unique_ptr<Offloader>, num_methods> offloaders() {
  return {build_offloader("newton"),
          build_offloader("worker_selection"),
          build_offloader("algorithm_1"),
          std::make_unique<CondensedOffloader>(CondensedOptions{.max_condensations = 2}),
          build_offloader("greedy"),
          build_offloader("maximum_processing")};
}

// What one decision comes to; not a number where there is none.
struct Outcome {
  double objective = NAN;  // with its constant, as in the paper's savings
  double energy = NAN;     // J
  double rho = NAN, varrho = NAN, clock = NAN;
  double ratio = NAN;      // mini-batch ratio alpha, mean over the three and over workers that are used
  double processed = NAN;  // points a local iteration, mean over workers as in the paper's figure
  double busiest = NAN;    // share of what is processed at the worker that processes most
  double residual = NAN;
};

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

Outcome outcome_of(const OffloadingInstance& instance, const OffloadResult& result) {
  if (result.status == OffloadStatus::infeasible) {
    return {};
  }
  const OffloadDecision& x = result.decisions.front();
  const OffloadEvaluation& e = result.evaluations.front();
  const double processed = std::accumulate(e.processed.begin(), e.processed.end(), 0.0);
  // Of what a coordinator does with data that it has.
  std::vector<double> varrho;
  for (std::size_t h = 0; h < instance.num_coordinators(); ++h) {
    for (std::size_t j = 0; j < instance.num_workers() && e.data[instance.num_workers() + h] > 0.0; ++j) {
      varrho.push_back(x.varrho(h, j));
    }
  }
  std::vector<double> ratios;
  for (const std::array<double, 3>& alpha : x.alpha) {
    if (alpha[0] > 0.0) {
      ratios.insert(ratios.end(), alpha.begin(), alpha.end());
    }
  }
  return {.objective = e.objective + instance.learning_weight * instance.bound.constant,
          .energy = e.energy(),
          .rho = mean(x.rho.values),
          .varrho = varrho.empty() ? NAN : mean(varrho),
          .clock = mean(x.clock) / 1e6,
          .ratio = mean(ratios),
          .processed = processed / static_cast<double>(instance.num_workers()),
          .busiest = *std::ranges::max_element(e.processed) / processed,
          .residual = result.certificate.kkt_residual};
}

using Grid = std::vector<std::vector<std::array<Outcome, num_methods>>>;  // [weight][seed][method]

Grid solve_all(const Scenario& base, std::span<const double> weights, std::size_t seeds, ThreadPool& pool,
               Progress& progress) {
  Grid grid(weights.size(), std::vector<std::array<Outcome, num_methods>>(seeds));
  const std::array<std::unique_ptr<Offloader>, num_methods> methods = offloaders();
  for (std::size_t w = 0; w < weights.size(); ++w) {
    progress.show("learning weights", static_cast<double>(w) / static_cast<double>(weights.size()));
    std::vector<OffloadingInstance> instances(seeds);
    for (std::size_t s = 0; s < seeds; ++s) {
      Scenario scenario = base;
      scenario.run.seed = s + 1;
      scenario.offloading.learning_weight = weights[w];
      const World world = build_world(scenario, pool);
      const std::vector<double> batteries = full_batteries(world);
      const std::size_t cluster = world.swarms.front().start_cluster;
      const OffloadingProblem problem =
          SwarmProblems(problem_setting(scenario), world)
              .problem(offloading_site(scenario.learning, 0, cluster),
                       initial_device_data(scenario, world, cluster), batteries);
      instances[s] = problem.rounds.front();
      for (double& budget : instances[s].energy_budget) {
        budget /= static_cast<double>(problem.rounds.size());
      }
    }
    const auto outcome = [&](std::size_t i) -> Outcome& { return grid[w][i / num_methods][i % num_methods]; };
    shared_for(
        crew(), pool, seeds * num_methods,
        {.body =
             [&](std::size_t i) {
               const OffloadingInstance& instance = instances[i / num_methods];
               outcome(i) = outcome_of(instance, methods[i % num_methods]->solve({&instance, 1}, nullptr));
             },
         .write = [&](std::size_t i, ByteWriter& bytes) { bytes.put(outcome(i)); },
         .read = [&](std::size_t i, ByteCursor& bytes) { outcome(i) = bytes.get<Outcome>(); },
         .for_all = false});
  }
  return grid;
}

struct Spread {
  double mean = NAN;
  double deviation = NAN;
  std::size_t count = 0;
};

template <class Value>
Spread spread(const std::vector<std::array<Outcome, num_methods>>& seeds, const Value& value) {
  std::vector<double> values;
  for (const auto& outcomes : seeds) {
    if (const double one = value(outcomes); std::isfinite(one)) {
      values.push_back(one);
    }
  }
  Spread result{.count = values.size()};
  if (!values.empty()) {
    result.mean = mean(values);
    double squares = 0.0;
    for (const double one : values) {
      squares += (one - result.mean) * (one - result.mean);
    }
    result.deviation = values.size() > 1 ? std::sqrt(squares / static_cast<double>(values.size() - 1)) : 0.0;
  }
  return result;
}

void add(Series& series, double x, const Spread& s) {
  if (s.count > 0) {
    series.curve.iterations.push_back(x);
    series.curve.values.push_back(s.mean);
    series.spread.push_back(s.deviation);
  }
}

std::string text_of(const Spread& s, const char* format, double factor = 1.0) {
  if (s.count == 0) {
    return "-";
  }
  return fmt::format(fmt::runtime(format), factor * s.mean) + " +- " +
         fmt::format(fmt::runtime(format), factor * s.deviation);
}

// In percent: what `ours` is below `other`.
template <class Part>
auto saved(Method ours, Method other, const Part& part) {
  return [=](const std::array<Outcome, num_methods>& outcomes) {
    return 100.0 * (1.0 - part(outcomes[ours]) / part(outcomes[other]));
  };
}

std::string published(const nlohmann::json& file, const char* weights, const std::vector<const char*>& path,
                      double weight, const char* format) {
  const auto& list = file.at(weights);
  const nlohmann::json* values = &file;
  for (const char* key : path) {
    values = &values->at(key);
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (std::abs(list[i].get<double>() - weight) < 1e-9) {
      return fmt::format(fmt::runtime(format), values->at(i).get<double>());
    }
  }
  return "";
}

}  // namespace

std::string reproduce_offloading(const ReproduceOptions& options, const fs::path& directory) {
  const std::vector<double> weights =
      options.quick ? std::vector<double>{0.01, 0.1, 0.5, 0.9}
                    : std::vector<double>{0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.99};
  const std::size_t seeds = options.seeds > 0 ? options.seeds : options.quick ? 3 : 10;
  const fs::path paper = scenario_directory() / "paper";
  const nlohmann::json stored =
      nlohmann::json::parse(read_file(paper / "published-offloading.json", std::size_t{1} << 20U));
  ThreadPool pool(options.common.threads);
  std::string text;
  for (const char* setting : {"offloading-published", "offloading"}) {
    const Scenario base = load_scenario(paper / (std::string(setting) + ".toml"), {options.common.settings});
    refuse_differences(crew(), {{"scenario", sha256(resolved_scenario(base))}});
    Grid grid;
    {
      Progress progress(options.common, setting);
      grid = solve_all(base, weights, seeds, pool, progress);
    }
    if (!crew().is_first()) {
      continue;
    }
    const bool is_published = std::string_view(setting) == "offloading-published";
    text += fmt::format(
        "## {}, {} networks, mean +- standard deviation\n\n",
        is_published ? "With the published code's radio (10 MHz)" : "With the text's radio (2 MHz)", seeds);

    std::vector<std::vector<std::string>> decisions{
        {"weight", "mean rho", "published", "mean varrho", "published", "mean clock (MHz)", "published",
         "processed (points a worker)", "published", "mean alpha", "at the busiest worker (%)"}};
    std::vector<std::vector<std::string>> savings{
        {"weight", "objective saved against greedy (%)", "published", "against maximum (%)", "published",
         "energy saved against greedy (%)", "published", "against maximum (%)", "published"}};
    std::vector<std::vector<std::string>> methods{{"weight"}};
    for (const char* title : titles) {
      methods.front().push_back(title);
    }
    Figure behaviour_figure{.title = "Decision over the weight of learning, 1 - theta",
                            .x_label = "1 - theta",
                            .y_label = "mean over networks"};
    Figure savings_figure{
        .title = "Saved against the baselines", .x_label = "1 - theta", .y_label = "percent"};
    struct Behaviour {
      const char* title;
      double Outcome::*part;
      const char* stored_key;  // null: not published
    };
    for (const Behaviour& behaviour :
         {Behaviour{"mean rho", &Outcome::rho, "mean_rho"},
          {"mean varrho", &Outcome::varrho, "mean_varrho"},
          {"mean clock (MHz)", &Outcome::clock, "mean_clock_mhz"},
          {"processed (points a worker)", &Outcome::processed, "processed_points"},
          {"mean alpha", &Outcome::ratio, nullptr}}) {
      Panel panel{.title = behaviour.title};
      for (const auto& [method, colour] : {std::pair{newton, blue}, std::pair{selection, green}}) {
        Series series{.title = titles[method], .curve = {}, .colour = colour};
        for (std::size_t w = 0; w < weights.size(); ++w) {
          const Spread s = spread(grid[w], [&, m = method](const auto& o) { return o[m].*behaviour.part; });
          // Rounded: mean varrho is 1 / W whatever is decided, but for the last bits.
          const auto rounded = [](double value) { return std::round(1e6 * value) / 1e6; };
          add(series, weights[w], {rounded(s.mean), rounded(s.deviation), s.count});
        }
        panel.series.push_back(std::move(series));
      }
      if (behaviour.stored_key != nullptr) {
        panel.series.push_back({.title = "published",
                                .curve = {stored.at("weights").get<std::vector<double>>(),
                                          stored.at(behaviour.stored_key).get<std::vector<double>>()},
                                .colour = orange,
                                .dashed = true});
      }
      behaviour_figure.panels.push_back(std::move(panel));
    }
    const auto objective = [](const Outcome& o) { return o.objective; };
    const auto energy = [](const Outcome& o) { return o.energy; };
    for (const auto& [baseline, key] :
         {std::pair{greedy, "greedy"}, std::pair{maximum, "maximum_processing"}}) {
      Panel panel{.title = fmt::format("against {}", titles[baseline])};
      for (const bool is_energy : {false, true}) {
        Series series{
            .title = is_energy ? "energy" : "objective", .curve = {}, .colour = is_energy ? green : blue};
        for (std::size_t w = 0; w < weights.size(); ++w) {
          const Spread s = is_energy ? spread(grid[w], saved(newton, baseline, energy))
                                     : spread(grid[w], saved(newton, baseline, objective));
          add(series, weights[w], s);
        }
        panel.series.push_back(std::move(series));
        panel.series.push_back({.title = is_energy ? "energy, published" : "objective, published",
                                .curve = {stored.at("savings_weights").get<std::vector<double>>(),
                                          stored.at(key)
                                              .at(is_energy ? "energy_percent" : "objective_percent")
                                              .get<std::vector<double>>()},
                                .colour = is_energy ? green : blue,
                                .dashed = true});
      }
      savings_figure.panels.push_back(std::move(panel));
    }
    for (std::size_t w = 0; w < weights.size(); ++w) {
      const auto of = [&](Method method, double Outcome::*part) {
        return spread(grid[w], [=](const auto& o) { return o[method].*part; });
      };
      const std::string weight = fmt::format("{}", weights[w]);
      decisions.push_back({weight, text_of(of(newton, &Outcome::rho), "{:.3f}"),
                           published(stored, "weights", {"mean_rho"}, weights[w], "{:.3f}"),
                           text_of(of(newton, &Outcome::varrho), "{:.2f}"),
                           published(stored, "weights", {"mean_varrho"}, weights[w], "{:.2f}"),
                           text_of(of(newton, &Outcome::clock), "{:.1f}"),
                           published(stored, "weights", {"mean_clock_mhz"}, weights[w], "{:.1f}"),
                           text_of(of(newton, &Outcome::processed), "{:.0f}"),
                           published(stored, "weights", {"processed_points"}, weights[w], "{:.0f}"),
                           text_of(of(newton, &Outcome::ratio), "{:.3f}"),
                           text_of(of(newton, &Outcome::busiest), "{:.1f}", 100.0)});
      savings.push_back(
          {weight, text_of(spread(grid[w], saved(newton, greedy, objective)), "{:.1f}"),
           published(stored, "savings_weights", {"greedy", "objective_percent"}, weights[w], "{:.1f}"),
           text_of(spread(grid[w], saved(newton, maximum, objective)), "{:.1f}"),
           published(stored, "savings_weights", {"maximum_processing", "objective_percent"}, weights[w],
                     "{:.1f}"),
           text_of(spread(grid[w], saved(newton, greedy, energy)), "{:.1f}"),
           published(stored, "savings_weights", {"greedy", "energy_percent"}, weights[w], "{:.1f}"),
           text_of(spread(grid[w], saved(newton, maximum, energy)), "{:.1f}"),
           published(stored, "savings_weights", {"maximum_processing", "energy_percent"}, weights[w],
                     "{:.1f}")});
      std::vector<std::string> row{weight};
      for (std::size_t m = 0; m < num_methods; ++m) {
        const Spread s = of(static_cast<Method>(m), &Outcome::objective);
        row.push_back(s.count == 0
                          ? "none of them"
                          : fmt::format("{:.4f}{}", s.mean,
                                        s.count < seeds ? fmt::format(" ({} of {})", s.count, seeds) : ""));
      }
      methods.push_back(std::move(row));
    }
    text += "Behaviour of the decision:\n\n" + markdown_table(decisions) +
            "\nSaved by it, constant included:\n\n" + markdown_table(savings) +
            "\nObjective by method, constant included (in brackets: networks on which all limits can be "
            "met):\n\n" +
            markdown_table(methods) + "\n";
    if (!draw(behaviour_figure, directory, std::string(setting) + "-behaviour")) {
      text +=
          "There are no pictures, as gnuplot is not here or failed; their numbers are in the .csv files.\n\n";
    }
    const auto is_met = [](const auto& networks) {
      return std::ranges::any_of(networks, [](const auto& outcomes) {
        return std::isfinite(outcomes[greedy].objective) || std::isfinite(outcomes[maximum].objective);
      });
    };
    if (std::ranges::any_of(grid, is_met)) {
      draw(savings_figure, directory, std::string(setting) + "-savings");
    } else {
      text += "No baseline meets all limits here, so there is nothing to compare with.\n\n";
    }
  }
  return text;
}

}  // namespace skein::app
