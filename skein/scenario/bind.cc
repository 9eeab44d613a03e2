#include "skein/scenario/bind.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "skein/learning/network_choice.h"
#include "skein/offloading/offloaders.h"
#include "skein/planning/planners.h"
#include "skein/scenario/bind_world.h"

namespace skein {
namespace {

constexpr Range small_step{.low = 0, .high = 10, .low_open = true};

void bind_run(Fields& f, RunOptions& o) {
  f.text("name", o.name, "names the run's directory");
  f.whole("seed", o.seed, {.low = 0, .high = 9007199254740992.0, .whole = true},
          "same seed, same bits; --seed overrides");
  f.whole("sequences", o.sequences, {.low = 0, .high = 1000000, .whole = true},
          "training sequences of the mission; 0: as many as its hours have");
  f.real("hours", o.hours, {.low = 0, .high = 10000},
         "it ends when the clock has passed so many; 0: by sequences alone");
  f.flag("oracle", o.oracle,
         "measure beside the mission what accuracy is possible: a global model of unlimited data that knows "
         "each cluster's true mix of labels");
}

void bind_label_sets(Fields& f, std::vector<std::vector<std::size_t>>& sets) {
  std::vector<std::vector<double>> numbers;
  for (const std::vector<std::size_t>& set : sets) {
    numbers.emplace_back(set.begin(), set.end());
  }
  f.lists("label_sets", numbers, 0, {.low = 0, .high = 255, .whole = true},
          "for labels: those of each cluster, instead of a number of them");
  sets.clear();
  for (const std::vector<double>& set : numbers) {
    sets.emplace_back(set.begin(), set.end());
  }
}

// Waveforms, read or generated.
void bind_snr(Fields& f, DataSourceOptions& o) {
  constexpr Range decibels{.low = -20, .high = 60, .whole = true};
  const auto whole = [&](std::string_view key, int& value, const Range& allowed, std::string_view help) {
    std::int64_t number = value;
    f.integer(key, number, allowed, help);
    value = static_cast<int>(number);
  };
  f.section(
      "radioml", "RADIOML2016.10b.",
      [&] {
        whole("least_snr_db", o.radioml.min_snr_db, decibels, "waveforms below are left out");
        whole("most_snr_db", o.radioml.max_snr_db, decibels, "waveforms above are left out");
      },
      o.name == "radioml");
  ModulationOptions& m = o.modulations;
  f.section(
      "modulations", "Generated waveforms.",
      [&] {
        f.whole("waveforms", m.waveforms, {.low = 1, .high = 100000, .whole = true},
                "per modulation and SNR");
        whole("least_snr_db", m.min_snr_db, decibels, "signal to noise, at least");
        whole("most_snr_db", m.max_snr_db, decibels, "signal to noise, at most");
        whole("snr_step_db", m.snr_step_db, {.low = 1, .high = 60, .whole = true}, "between them");
        f.real("samples_per_symbol", m.samples_per_symbol, {.low = 2, .high = 64}, "samples of a symbol");
        f.real("roll_off", m.roll_off, positive_ratio, "excess bandwidth of the root-raised cosine");
        f.real("cpfsk_index", m.cpfsk_index, {.low = 0, .high = 4, .low_open = true},
               "modulation index of CPFSK");
        f.real("gfsk_index", m.gfsk_index, {.low = 0, .high = 4, .low_open = true},
               "modulation index of GFSK");
        f.real("gfsk_bandwidth_time", m.gfsk_bandwidth_time, {.low = 0.05, .high = 10},
               "bandwidth times symbol time");
        f.real("carrier_offset", m.max_carrier_offset, {.low = 0, .high = 0.5}, "most, in cycles per sample");
        f.real("clock_offset", m.max_clock_offset, {.low = 0, .high = 0.1},
               "most, as a share of the sample time");
      },
      o.name == "modulations");
}

void bind_data(Fields& f, DataOptions& o) {
  f.name("source", o.source.name, names_in(data_sources()), "the data set");
  std::string path = o.source.path.string();
  f.text("path", path, "its directory or file, if not where `skein data list` finds it");
  o.source.path = path;
  f.choice("partition", o.partition.kind, "who collects which labels");
  f.whole("labels_per_cluster", o.partition.labels_per_group, {.low = 1, .high = 256, .whole = true},
          "for labels: how many each cluster sees");
  bind_label_sets(f, o.partition.label_sets);
  f.real("dirichlet_concentration", o.partition.dirichlet_concentration, {.low = 1e-3, .high = 1e6},
         "for dirichlet: small is uneven");
  f.number("points_per_device", o.partition.quantity, "data points a device starts with");
  f.flag("disjoint", o.partition.disjoint, "no data point goes to two devices");
  f.number("buffer_points", o.buffer, "data points a device keeps; the oldest go first");
  f.number("arrivals_per_sequence", o.arrivals, "new data points of a device in a training sequence");
  f.number("arrivals_per_hour", o.arrivals_per_hour,
           "and in an hour; fractions are kept until they are whole");
  bind_snr(f, o.source);
  SyntheticOptions& synthetic = o.source.synthetic;
  f.section(
      "synthetic", "Generated images.",
      [&] {
        f.whole("classes", synthetic.classes, {.low = 2, .high = 256, .whole = true}, "classes");
        f.whole("height", synthetic.shape.height, {.low = 1, .high = 256, .whole = true}, "pixels");
        f.whole("width", synthetic.shape.width, {.low = 1, .high = 256, .whole = true}, "pixels");
        f.whole("channels", synthetic.shape.channels, {.low = 1, .high = 16, .whole = true},
                "values per pixel");
        f.whole("train_per_class", synthetic.train_per_class, {.low = 1, .high = 100000, .whole = true},
                "images");
        f.whole("test_per_class", synthetic.test_per_class, {.low = 1, .high = 100000, .whole = true},
                "images");
        f.real("noise", synthetic.noise_deviation, {.low = 0, .high = 10},
               "deviation of a value, full scale 1");
        f.real("brightness", synthetic.brightness_deviation, {.low = 0, .high = 10},
               "deviation of an image, full scale 1");
      },
      o.source.name == "synthetic");
}

void bind_drift_rate(Fields& f, DriftRateOptions& o, std::string_view name, std::string_view help) {
  f.section(name, help, [&] {
    f.number("start", o.start, "per sequence or hour, at first; a list has one number per cluster");
    f.number("growth", o.growth, "added to it in every sequence or hour");
    f.number("later", o.later, "instead of both from later_from on, at once; a list as for start");
    f.real("later_from", o.later_from, {.low = 0, .high = 1e6}, "the sequence or hour of that; 0: never");
  });
}

void bind_drift(Fields& f, DriftOptions& o) {
  f.choice("per", o.per, "what rates are for: a training sequence, or an hour of the clock");
  o.label_mix.start.allowed = o.label_mix.later.allowed =
      o.per == DriftOptions::Per::hour ? non_negative : ratio;
  f.choice("target", o.target, "what a label mix moves towards");
  f.real("dirichlet_concentration", o.dirichlet_concentration, {.low = 1e-3, .high = 1e6},
         "for dirichlet: small is uneven");
  bind_drift_rate(f, o.label_mix, "label_mix", "Share of new data points whose label changes.");
  bind_drift_rate(f, o.rotation, "rotation_deg",
                  "Images turn, or the carrier phase of waveforms, in degrees.");
  bind_drift_rate(f, o.brightness, "brightness", "Factor on every value.");
  bind_drift_rate(f, o.noise, "noise", "Rise of the deviation of noise, full scale 1.");
}

void bind_network(Fields& f, NetworkOptions& o) {
  f.name("preset", o.preset, network_names(), "the network; automatic: the paper's for the data set");
  f.texts("layers", o.layers,
          R"(for preset "layers": ["conv 16 2x2", "relu", "pool 2x2 stride 1", "linear 10"])");
}

void bind_algorithm(Fields& f, Algorithm& o) {
  std::vector<std::string_view> names = names_in(algorithms());
  std::string name = o.name;
  if (std::ranges::find(names, name) == names.end()) {
    names.push_back(o.name);  // a row of one's own, which no file can choose
  }
  f.name("algorithm", name, names, "who averages with whom");
  if (name != o.name) {
    o = algorithm(name);
  }
}

void bind_learning(Fields& f, LearningOptions& o) {
  bind_algorithm(f, o.algorithm);
  f.choice("meta_gradient", o.meta_gradient, "form of the meta-gradient");
  f.choice("local_step", o.local_step, "what one local iteration is");
  f.real("step", o.step, small_step, "step size of plain gradient steps (h_fl, fed_avg, local, central)");
  f.real("inner_step", o.inner_step, small_step, "step size of the inner gradient step eta_1");
  f.real("meta_step", o.meta_step, small_step,
         "step size of the meta-update eta_2; the bounds need it below 1 / (6 meta_lipschitz)");
  f.real("difference_step", o.difference_step, small_step, "for hessian_free: step of the difference");
  f.pairs("step_schedule", o.step_schedule, {.low = 0, .high = 10000000},
          "[[0, 1e-2], [10, 5e-3]]: step and inner_step from each local iteration on");
  f.tuple("batch_ratios", o.batch_ratios, positive_ratio,
          "shares of a worker's data in its three mini-batches alpha");
  f.tuple("batch_sizes", o.batch_sizes, {.low = 0, .high = 10000000, .whole = true},
          "data points in them instead of shares; 0: by batch_ratios");
  f.whole("local_period", o.local_period, {.low = 1, .high = 10000, .whole = true},
          "local iterations between local aggregations tau^L");
  f.whole("global_period", o.global_period, {.low = 1, .high = 10000, .whole = true},
          "local aggregations between global ones tau^G");
  f.whole("iterations", o.iterations, {.low = 1, .high = 10000000, .whole = true}, "local iterations in all");
  f.whole("evaluation_period", o.evaluation_period, {.low = 1, .high = 10000000, .whole = true},
          "global aggregations between evaluations in `skein train`; the last is always evaluated");
  f.real("target_accuracy_percent", o.target_accuracy_percent, {.low = 0, .high = 100},
         "`skein train` ends at the first evaluation where the global model is as good; 0: after all "
         "iterations");
  f.number("points_per_worker", o.points_per_worker,
           "data points of a worker in `skein train`; a list has one number per worker");
  f.flag("redraw", o.redraw, "draw each worker's data anew for every local round (local_period iterations)");
  f.choice("personalisation", o.personalisation,
           "how models become the swarm's own: gradient steps, or further local iterations, at the end only");
  f.whole("personal_steps", o.personal_steps, {.low = 1, .high = 100000, .whole = true},
          "of these steps or iterations");
  f.real("personal_step_size", o.personal_step_size, {.low = 0, .high = 10},
         "of such a gradient step; 0: inner_step, or step where the algorithm takes plain steps");
  f.whole("personal_batch", o.personal_batch, {.low = 0, .high = 10000000, .whole = true},
          "data points of such a gradient step; 0: as many as the three mini-batches together");
  f.whole("personal_newest", o.personal_newest, {.low = 0, .high = 10000000, .whole = true},
          "data points for them in a mission, the newest, for each of the cluster's devices; 0: all");
  f.real("label_shift", o.label_shift.smoothing, {.low = 0, .high = 1000},
         "train with log(K (n_y + this) / (n + K this)) on the last biases; 0: off, 0.5 is a good value");
  f.real("label_shift_mix", o.label_shift.mix, ratio,
         "share of even labels in the shift that models which are made the swarm's own keep");
  f.choice(
      "absent_swarms", o.absent_swarms,
      "when others bring their models in a mission: left out, or counted with the global model as it was");
  f.real("augment_rotation_deg", o.augment_rotation_degrees, {.low = 0, .high = 180},
         "train on points turned by random angles up to this (carrier phases, of waveforms); 0: as they are");
  std::string initial_model = o.initial_model.string();
  f.text("initial_model", initial_model,
         "start from this safetensors file, or as PyTorch does: torch.manual_seed(1); empty: from run.seed");
  o.initial_model = initial_model;
  f.whole("gradient_points", o.gradient_points, {.low = 0, .high = 10000000, .whole = true},
          "data points of a worker for the norm of the meta-gradient; 0: not measured");
  f.section("network", "The network that is trained.", [&] { bind_network(f, o.network); });
  f.section("bound", "Constants of the convergence bounds.", [&] {
    f.real("gradient_bound", o.bound.gradient_bound, positive, "largest norm of a gradient B");
    f.real("gradient_lipschitz", o.bound.gradient_lipschitz, positive, "of the loss's gradient mu^G");
    f.real("meta_lipschitz", o.bound.meta_lipschitz, positive, "of the meta-gradient mu^F");
    f.real("gradient_variance", o.bound.gradient_variance, non_negative, "of a sample's gradient sigma^G");
    f.real("hessian_variance", o.bound.hessian_variance, non_negative, "of a sample's Hessian sigma^H");
    f.real("swarm_gradient_variability", o.bound.swarm_gradient_variability, non_negative,
           "between a swarm's workers gamma_u^G");
    f.real("swarm_hessian_variability", o.bound.swarm_hessian_variability, non_negative, "gamma_u^H");
    f.real("network_gradient_variability", o.bound.network_gradient_variability, non_negative,
           "between swarms gamma^G");
    f.real("network_hessian_variability", o.bound.network_hessian_variability, non_negative, "gamma^H");
  });
}

void bind_offloading(Fields& f, OffloadingOptions& o) {
  f.name("method", o.method, offloader_names(), "how the leader decides");
  f.choice("battery", o.battery,
           "local rounds of a global round: an even part of the battery each, or all as one problem");
  f.choice("time", o.time, "of a round: limited only, or priced by the energy of all who hover so long");
  f.choice("learning_term", o.learning_term,
           "the convergence bounds, or predicted loss of accuracy, in percentage points");
  f.real("learning_weight", o.learning_weight, ratio,
         "w, of learning against 1 - w of energy, the paper's 1 - theta: w / (1 - w) J a unit of it");
  f.real("gradient_weight", o.gradient_weight, non_negative, "theta_1, of the global meta-gradient's bound");
  f.real("mismatch_weight", o.mismatch_weight, non_negative, "theta_2, of the cluster mismatch's bound");
  f.real("growth_limit", o.growth_limit, Range{.low = 1.0},
         "growth of the bound with the periods beyond this is tempered, to less than twice this");
  f.choice("constants", o.constants,
           "of the bounds, in a mission: learning.bound, or as the core network measures them");
  f.choice("constants_moment", o.constants_moment,
           "when they are measured: at the last global aggregation of a sequence, or at each");
  f.number("point_kbit", o.point_size,
           "size of a data point, 1 kbit = 1000 bit; 0: what a sample of the data set has");
  f.number("model_kbit", o.model_size, "size of a model; 0: 32 bits for each parameter of the network");
  f.number("local_time_s", o.local_time_limit, "for gathering and processing before a local aggregation");
  f.section("accuracy", "Lost accuracy as predicted, for learning_term = \"accuracy\".", [&] {
    AccuracyLoss& a = o.accuracy;
    f.real("training_loss", a.training_loss, non_negative, "percentage points lost after training_points");
    f.real("training_points", a.training_points, positive,
           "processed by a worker in a visit: steps times mini-batch");
    f.real("training_exponent", a.training_exponent, ratio, "with which that loss falls");
    f.real("data_loss", a.data_loss, non_negative, "percentage points lost with data_points");
    f.real("data_points", a.data_points, positive, "different ones at a worker");
    f.real("data_exponent", a.data_exponent, ratio, "with which that loss falls");
  });
}

void bind_reward(Fields& f, RewardOptions& o) {
  f.real("reward_scale", o.scale, positive, "reward C");
  f.real("objective_weight", o.objective_weight, non_negative, "c_1 of the reward, on O(s)");
  f.real("gradient_weight", o.gradient_weight, non_negative,
         "c_2 of the reward, on unvisited clusters' gradients");
  f.real("travel_weight", o.travel_weight, non_negative, "c_3 of the reward, per J of travel");
  f.real("penalty", o.penalty, non_negative, "for each swarm below its battery threshold");
  f.real("recharge_cost", o.recharge_cost, non_negative,
         "of a swarm at a station, in place of c_1 O; the paper has none, at 0 it pays to stay there");
  f.flag("zero_on_violation", o.zero_on_violation,
         "with a swarm below its threshold only penalties count, as published");
  f.choice("gradient_form", o.gradient,
           "G of an unvisited cluster: min(age, age_cap) drift as published, or the paper's lemma");
  f.real("age_cap", o.age_cap, {.low = 1, .high = 1e6}, "for capped_age: sequences");
  f.real("visited_gradient", o.visited_gradient, non_negative,
         "for bound: squared meta-gradient that a visit leaves");
}

void bind_beam(Fields& f, BeamOptions& o) {
  constexpr Range counts{.low = 1, .high = 10000, .whole = true};
  f.whole("width", o.width, counts, "paths that are kept");
  f.whole("horizon", o.horizon, counts, "sequences that it looks ahead");
  f.whole("replan", o.replan, counts, "plans carried out before the next search");
}

void bind_learner(Fields& f, LearnerOptions& o) {
  constexpr Range counts{.low = 1, .high = 10000000, .whole = true};
  f.whole("environments", o.environments, counts, "environments side by side");
  f.whole("steps", o.steps, counts, "training sequences of each");
  f.whole("batch", o.batch, counts, "transitions of an update M^Q");
  f.whole("update_period", o.update_period, counts, "steps between updates");
  f.whole("replay_steps", o.replay_steps, counts, "steps that are remembered B^Q; the paper: 20");
  f.whole("target_period", o.target_period, counts, "updates between copies to the target; the paper: 20");
  f.whole("window", o.window, {.low = 1, .high = 64, .whole = true}, "sequences that the LSTM sees");
  f.whole("memory", o.memory, {.low = 0, .high = 1024, .whole = true}, "size of the LSTM; 0: none");
  f.whole("hidden", o.hidden, {.low = 1, .high = 4096, .whole = true}, "first layer after it");
  f.whole("hidden2", o.hidden2, {.low = 1, .high = 4096, .whole = true}, "second layer after it");
  f.real("step", o.step, small_step, "step size of Adam at first");
  f.real("last_step", o.last_step, small_step, "and at last");
  f.real("decay_share", o.decay_share, positive_ratio,
         "share of the steps in which exploration falls to its least");
  f.whole("flat_steps", o.flat_steps, counts,
          "training sequences of the published flat agent; published: 30000");
  f.flag("model_reward", o.model_reward, "Q is the model's one-step reward and what the network adds");
  f.flag("online", o.online,
         "drift that moves does so while it learns, as published; else starts are at any moment of it");
}

void bind_horizon(Fields& f, HorizonOptions& o) {
  f.choice("objective", o.objective,
           "what plans are to bring; all but the paper's reward is for the planner horizon");
  f.real(
      "energy_price", o.energy_price, {.low = 0, .high = 1e6},
      "what flying must bring at least, in percentage points of a cluster's accuracy over an hour, per kJ");
  f.real("wanted_accuracy_percent", o.wanted_accuracy_percent, {.low = 1, .high = 100},
         "time mean over the mission that objective wanted_accuracy reaches with the least energy");
  f.real("energy_budget_kj", o.energy_budget_kj, positive,
         "of all UAVs by the mission's end, with objective energy_budget");
  f.real("horizon_h", o.horizon_h, {.low = 0.01, .high = 1000}, "visits are scheduled for so long");
  f.real("most_age_h", o.most_age_h, {.low = 0, .high = 1e6},
         "no cluster is to be without a visit for longer; 0: for any time");
  f.choice("search", o.search, "how the planner horizon searches its schedules");
}

void bind_planning(Fields& f, PlanningOptions& o) {
  constexpr Range periods{.low = 1, .high = 10000, .whole = true};
  f.name("planner", o.planner, planner_names(), "who decides");
  f.choice("waiting", o.waiting, "who waits during a sequence hovers, or lands where that takes less energy");
  f.choice("start", o.start, "swarms begin to train when all have arrived, or each on its arrival");
  bind_reward(f, o.reward);
  f.flag("battery_mask", o.battery_mask,
         "plans that take a swarm below its threshold are no choice while there are others");
  f.real("stay_distance_m", o.stay_distance_m, {.low = 0, .high = 1e6},
         "flown by a swarm that stays at its site, in the planner's model only; published: 500 to 1000");
  f.real("recharge_kj", o.recharge_kj, non_negative,
         "gained by a battery in a sequence at a station, in the planner's model only; 0: it is full");
  const auto path = [&](std::string_view key, std::filesystem::path& file, std::string_view help) {
    std::string text = file.string();
    f.text(key, text, help);
    file = text;
  };
  path("tables", o.tables, "JSON file of solved configurations; empty: a closed form");
  path("agent", o.agent, "what `skein plan train` wrote, for planners that learn; empty: train when needed");
  f.real("discount", o.discount, {.low = 0, .high = 1, .high_open = true}, "of future rewards gamma");
  f.real("exploration", o.exploration, ratio, "share of random plans at first epsilon");
  f.real("least_exploration", o.least_exploration, ratio, "and at last");
  f.reals("durations", o.durations, periods, "T_s to choose from, in local iterations");
  f.reals("local_periods", o.local_periods, periods, "tau^L to choose from");
  f.reals("global_periods", o.global_periods, periods, "tau^G to choose from");
  f.real("cycle_s", o.cycle_s, {.low = 0, .high = 1e6},
         "least length of a sequence, which swarms await landed; the first tour of the clusters does not");
  bind_horizon(f, o.horizon);
  f.section("estimates", "What planners get to know of clusters beyond the paper's state.", [&] {
    f.real("held_out", o.estimates.held_out, {.low = 0, .high = 0.5},
           "share of devices' data points that nobody trains on, to measure recalls; 0: no accuracy is "
           "predicted");
    f.real("prior_points", o.estimates.prior_points, positive,
           "weight of what is expected of a class, beside its points that were held out");
    f.real("loss_per_hour", o.estimates.loss_per_hour, {.low = 0, .high = 1000},
           "percentage points of accuracy that a cluster loses, until visits have told");
    f.real("first_accuracy_percent", o.estimates.first_accuracy_percent, {.low = 0, .high = 100},
           "that a visit leaves, until visits have told");
    f.flag("costs", o.estimates.costs, "what devices report of labels and recalls takes bits and energy");
  });
  f.section("drift", "Drift of each cluster as the planner sees it, in the reward's scale.", [&] {
    f.number("start", o.drift.start, "at first; a list has one number per cluster");
    f.number("end", o.drift.end, "at last; a list has one number per cluster");
    f.whole("sequences", o.drift.sequences, {.low = 0, .high = 10000000, .whole = true},
            "from start to end; 0: start for ever");
  });
  f.section("beam", "Beam search.", [&] { bind_beam(f, o.beam); });
  f.section("guided", "Beam search with the learned value at its end.", [&] { bind_beam(f, o.guided); });
  f.section("learner", "Recurrent Q-learning.", [&] { bind_learner(f, o.learner); });
}

void bind_faults(Fields& f, FaultOptions& o) {
  f.texts("list", o.list, R"(like "3 worker 1.2 for 2", "5.1 leader 2", "4 link 1 0.25": docs/faults.md)");
  for (const FaultKindRow& row : fault_kinds()) {
    f.real(row.rate_key, o.rates[static_cast<std::size_t>(row.kind)], ratio,
           fmt::format("probability per sequence, of each {}", name_of(row.target)));
  }
  f.real("for_good", o.for_good, ratio, "share of UAVs lost at a rate that never come back");
  f.number("duration_sequences", o.duration, "of the others, and of every other fault at a rate");
  f.number("link_factor", o.link_factor, "of a degraded link's rate");
  f.number("battery_factor", o.battery_factor, "of every use of a faulty battery");
}

}  // namespace

void bind_scenario(Fields& f, Scenario& scenario) {
  f.section("run", "The run.", [&] { bind_run(f, scenario.run); });
  f.section("world",
            "The region. Numbers may be { uniform = [low, high] }, { normal = [mean, deviation] },\n"
            "# { choice = [...] }, or a list with one value per entity.",
            [&] { bind_world(f, scenario.world); });
  f.section("swarms", "UAV swarms: a leader, workers and coordinators each.",
            [&] { bind_swarms(f, scenario.swarms); });
  f.section("radio", "Radio links.", [&] { bind_radio(f, scenario.radio); });
  f.section("data", "Data that the devices collect.", [&] { bind_data(f, scenario.data); });
  f.section("drift", "Drift of a cluster's data from one training sequence to the next.",
            [&] { bind_drift(f, scenario.drift); });
  f.section("learning", "Hierarchical nested personalised federated learning.",
            [&] { bind_learning(f, scenario.learning); });
  f.section("offloading", "The leader's problem: how much data goes where, and who processes it how fast.",
            [&] { bind_offloading(f, scenario.offloading); });
  f.section("planning", "Where swarms fly, who recharges, how long they train.",
            [&] { bind_planning(f, scenario.planning); });
  f.section("faults", "What goes wrong, from a list or at a rate.", [&] { bind_faults(f, scenario.faults); });
}

}  // namespace skein
