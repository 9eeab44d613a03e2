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

// What is drawn and written of one setting.
struct Study {
  const std::vector<double>& weights;
  const Grid& grid;
  const nlohmann::json& stored;  // published
  std::size_t seeds;
};
using Rows = std::vector<std::vector<std::string>>;

double objective(const Outcome& o) { return o.objective; }
double energy(const Outcome& o) { return o.energy; }

Series published_series(const Study& study, const char* weights, const nlohmann::json& values) {
  return {.curve = {study.stored.at(weights).get<std::vector<double>>(), values.get<std::vector<double>>()},
          .dashed = true};
}

Figure behaviour_figure(const Study& study) {
  Figure figure{.title = "Decision over the weight of learning, 1 - theta",
                .x_label = "1 - theta",
                .y_label = "mean over networks"};
  struct Behaviour {
    const char* title;
    double Outcome::*part;
    const char* stored_key;  // null: not published
  };
  for (const Behaviour& behaviour : {Behaviour{"mean rho", &Outcome::rho, "mean_rho"},
                                     {"mean varrho", &Outcome::varrho, "mean_varrho"},
                                     {"mean clock (MHz)", &Outcome::clock, "mean_clock_mhz"},
                                     {"processed (points a worker)", &Outcome::processed, "processed_points"},
                                     {"mean alpha", &Outcome::ratio, nullptr}}) {
    Panel panel{.title = behaviour.title};
    for (const auto& [method, colour] : {std::pair{newton, blue}, std::pair{selection, green}}) {
      Series series{.title = titles[method], .curve = {}, .colour = colour};
      for (std::size_t w = 0; w < study.weights.size(); ++w) {
        const Spread s =
            spread(study.grid[w], [&, m = method](const auto& o) { return o[m].*behaviour.part; });
        // Rounded: mean varrho is 1 / W whatever is decided, but for the last bits.
        const auto rounded = [](double value) { return std::round(1e6 * value) / 1e6; };
        add(series, study.weights[w], {rounded(s.mean), rounded(s.deviation), s.count});
      }
      panel.series.push_back(std::move(series));
    }
    if (behaviour.stored_key != nullptr) {
      Series series = published_series(study, "weights", study.stored.at(behaviour.stored_key));
      series.title = "published";
      series.colour = orange;
      panel.series.push_back(std::move(series));
    }
    figure.panels.push_back(std::move(panel));
  }
  return figure;
}

Figure savings_figure(const Study& study) {
  Figure figure{.title = "Saved against the baselines", .x_label = "1 - theta", .y_label = "percent"};
  for (const auto& [baseline, key] :
       {std::pair{greedy, "greedy"}, std::pair{maximum, "maximum_processing"}}) {
    Panel panel{.title = fmt::format("against {}", titles[baseline])};
    for (const bool is_energy : {false, true}) {
      const std::string what = is_energy ? "energy" : "objective";
      const auto colour = is_energy ? green : blue;
      Series series{.title = what, .curve = {}, .colour = colour};
      for (std::size_t w = 0; w < study.weights.size(); ++w) {
        add(series, study.weights[w],
            spread(study.grid[w], saved(newton, baseline, is_energy ? &energy : &objective)));
      }
      panel.series.push_back(std::move(series));
      Series published =
          published_series(study, "savings_weights", study.stored.at(key).at(what + "_percent"));
      published.title = what + ", published";
      published.colour = colour;
      panel.series.push_back(std::move(published));
    }
    figure.panels.push_back(std::move(panel));
  }
  return figure;
}

Rows behaviour_rows(const Study& study) {
  Rows rows{{"weight", "mean rho", "published", "mean varrho", "published", "mean clock (MHz)", "published",
             "processed (points a worker)", "published", "mean alpha", "at the busiest worker (%)"}};
  for (std::size_t w = 0; w < study.weights.size(); ++w) {
    const double weight = study.weights[w];
    const auto ours = [&](double Outcome::*part, const char* format, double factor = 1.0) {
      return text_of(spread(study.grid[w], [=](const auto& o) { return o[newton].*part; }), format, factor);
    };
    const auto theirs = [&](const char* key, const char* format) {
      return published(study.stored, "weights", {key}, weight, format);
    };
    rows.push_back({fmt::format("{}", weight), ours(&Outcome::rho, "{:.3f}"), theirs("mean_rho", "{:.3f}"),
                    ours(&Outcome::varrho, "{:.2f}"), theirs("mean_varrho", "{:.2f}"),
                    ours(&Outcome::clock, "{:.1f}"), theirs("mean_clock_mhz", "{:.1f}"),
                    ours(&Outcome::processed, "{:.0f}"), theirs("processed_points", "{:.0f}"),
                    ours(&Outcome::ratio, "{:.3f}"), ours(&Outcome::busiest, "{:.1f}", 100.0)});
  }
  return rows;
}

Rows savings_rows(const Study& study) {
  Rows rows{{"weight", "objective saved against greedy (%)", "published", "against maximum (%)", "published",
             "energy saved against greedy (%)", "published", "against maximum (%)", "published"}};
  for (std::size_t w = 0; w < study.weights.size(); ++w) {
    std::vector<std::string> row{fmt::format("{}", study.weights[w])};
    for (const auto& [part, key] :
         {std::pair{&objective, "objective_percent"}, std::pair{&energy, "energy_percent"}}) {
      for (const auto& [baseline, name] :
           {std::pair{greedy, "greedy"}, std::pair{maximum, "maximum_processing"}}) {
        row.push_back(text_of(spread(study.grid[w], saved(newton, baseline, part)), "{:.1f}"));
        row.push_back(published(study.stored, "savings_weights", {name, key}, study.weights[w], "{:.1f}"));
      }
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Rows objective_rows(const Study& study) {
  Rows rows{{"weight"}};
  rows.front().insert(rows.front().end(), titles.begin(), titles.end());
  for (std::size_t w = 0; w < study.weights.size(); ++w) {
    std::vector<std::string> row{fmt::format("{}", study.weights[w])};
    for (std::size_t m = 0; m < num_methods; ++m) {
      const Spread s = spread(study.grid[w], [=](const auto& o) { return o[m].objective; });
      row.push_back(
          s.count == 0
              ? "none of them"
              : fmt::format("{:.4f}{}", s.mean,
                            s.count < study.seeds ? fmt::format(" ({} of {})", s.count, study.seeds) : ""));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

bool some_baseline_is_met(const Grid& grid) {
  return std::ranges::any_of(grid, [](const auto& networks) {
    return std::ranges::any_of(networks, [](const auto& outcomes) {
      return std::isfinite(outcomes[greedy].objective) || std::isfinite(outcomes[maximum].objective);
    });
  });
}

// Its tables; its pictures go to the directory.
std::string report(const Study& study, const std::string& setting, const fs::path& directory) {
  const bool is_published = setting == "offloading-published";
  std::string text =
      fmt::format("## {}, {} networks, mean +- standard deviation\n\n",
                  is_published ? "With the published code's radio (10 MHz)" : "With the text's radio (2 MHz)",
                  study.seeds);
  text += "Behaviour of the decision:\n\n" + markdown_table(behaviour_rows(study)) +
          "\nSaved by it, constant included:\n\n" + markdown_table(savings_rows(study)) +
          "\nObjective by method, constant included (in brackets: networks on which all limits can be "
          "met):\n\n" +
          markdown_table(objective_rows(study)) + "\n";
  if (!draw(behaviour_figure(study), directory, setting + "-behaviour")) {
    text +=
        "There are no pictures, as gnuplot is not here or failed; their numbers are in the .csv files.\n\n";
  }
  if (some_baseline_is_met(study.grid)) {
    draw(savings_figure(study), directory, setting + "-savings");
  } else {
    text += "No baseline meets all limits here, so there is nothing to compare with.\n\n";
  }
  return text;
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
  for (const std::string setting : {"offloading-published", "offloading"}) {
    const Scenario base = load_scenario(paper / (setting + ".toml"), {options.common.settings});
    refuse_differences(crew(), {{"scenario", sha256(resolved_scenario(base))}});
    Grid grid;
    {
      Progress progress(options.common, setting);
      grid = solve_all(base, weights, seeds, pool, progress);
    }
    if (!crew().is_first()) {
      continue;
    }
    text += report({.weights = weights, .grid = grid, .stored = stored, .seeds = seeds}, setting, directory);
  }
  return text;
}

}  // namespace skein::app
