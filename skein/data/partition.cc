#include "skein/data/partition.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <string>

#include "skein/base/expect.h"
#include "skein/base/portable_math.h"

namespace skein {
namespace {

using Kind = PartitionOptions::Kind;
using LabelSet = std::vector<std::size_t>;

// C(n, k), or `limit` if it is at least that.
std::size_t binomial(std::size_t n, std::size_t k, std::size_t limit) {
  std::size_t value = 1;
  for (std::size_t i = 1; i <= k; ++i) {
    value = value * (n - k + i) / i;
    if (value >= limit) {
      return limit;  // the partial products C(n - k + i, i) only grow
    }
  }
  return value;
}

// The next set in lexicographic order, the first after the last.
LabelSet next_set(LabelSet set, std::size_t num_classes) {
  const std::size_t k = set.size();
  std::size_t i = k;
  while (i > 0 && set[i - 1] == num_classes - k + (i - 1)) {
    --i;
  }
  if (i == 0) {
    std::iota(set.begin(), set.end(), std::size_t{0});
  } else {
    std::iota(set.begin() + static_cast<std::ptrdiff_t>(i - 1), set.end(), set[i - 1] + 1);
  }
  return set;
}

// Makes the uses of all classes equal, give or take one, keeping the sets distinct. If class a is used at
// least twice more often than b, more sets hold a without b than b without a; exchanging a for b maps the
// first kind of set one-to-one to the second, so some exchange gives a set that is not there yet. Each
// exchange lowers the sum of squared uses, so this ends.
void balance(std::span<LabelSet> sets, std::set<LabelSet>& present, std::size_t num_classes) {
  std::vector<std::size_t> uses(num_classes, 0);
  for (const LabelSet& set : sets) {
    for (const std::size_t label : set) {
      ++uses[label];
    }
  }
  while (true) {
    const auto most = static_cast<std::size_t>(std::ranges::max_element(uses) - uses.begin());
    const auto least = static_cast<std::size_t>(std::ranges::min_element(uses) - uses.begin());
    if (uses[most] <= uses[least] + 1) {
      return;
    }
    bool exchanged = false;
    for (std::size_t i = 0; i < sets.size() && !exchanged; ++i) {
      if (std::ranges::binary_search(sets[i], most) && !std::ranges::binary_search(sets[i], least)) {
        LabelSet changed = sets[i];
        std::ranges::replace(changed, most, least);
        std::ranges::sort(changed);
        if (present.insert(changed).second) {
          present.erase(sets[i]);
          sets[i] = std::move(changed);
          exchanged = true;
        }
      }
    }
    expect(exchanged, "an exchange of labels always exists");
    --uses[most];
    ++uses[least];
  }
}

// The `k` least used classes, ties in random order.
LabelSet least_used(const std::vector<std::size_t>& uses, std::size_t k, RandomStream& stream) {
  LabelSet classes(uses.size());
  std::iota(classes.begin(), classes.end(), std::size_t{0});
  stream.shuffle(classes);
  std::ranges::stable_sort(classes, {}, [&](std::size_t label) { return uses[label]; });
  classes.resize(k);
  std::ranges::sort(classes);
  return classes;
}

LabelMix equal_mix(const LabelSet& labels, std::size_t num_classes) {
  LabelMix mix(num_classes, 0.0);
  for (const std::size_t label : labels) {
    mix[label] = 1.0 / static_cast<double>(labels.size());
  }
  return mix;
}

std::vector<LabelMix> choose_mixes(const PartitionOptions& options, std::size_t num_groups,
                                   const ClassPools& pools, std::uint64_t seed) {
  std::vector<LabelMix> mixes;
  mixes.reserve(num_groups);
  switch (options.kind) {
    case Kind::labels: {
      RandomStream stream(seed, "label sets");
      const auto sets = options.label_sets.empty() ? choose_label_sets(num_groups, options.labels_per_group,
                                                                       pools.num_classes(), stream)
                                                   : options.label_sets;
      for (const LabelSet& set : sets) {
        mixes.push_back(equal_mix(set, pools.num_classes()));
      }
      break;
    }
    case Kind::dirichlet:
      for (std::size_t group = 0; group < num_groups; ++group) {
        RandomStream stream(seed, "label mix", group);
        mixes.push_back(draw_dirichlet(pools.num_classes(), options.dirichlet_concentration, stream));
      }
      break;
    case Kind::iid:
      mixes.assign(num_groups, pools.frequencies());
      break;
  }
  return mixes;
}

// One member's place and quantity.
struct Member {
  std::size_t group = 0;
  std::size_t number = 0;  // in its group
  std::size_t quantity = 0;
};

// Quantities; throws if one is more than the whole data set, before anything is made of that size.
std::vector<Member> choose_members(const PartitionOptions& options,
                                   std::span<const std::size_t> members_per_group, const ClassPools& pools,
                                   std::uint64_t seed) {
  std::vector<Member> members;
  for (std::size_t group = 0; group < members_per_group.size(); ++group) {
    for (std::size_t number = 0; number < members_per_group[group]; ++number) {
      RandomStream stream(seed, "quantity", group, number);
      const double quantity = options.quantity.sample(stream, members.size());
      expect(quantity >= 0.0, "a quantity is not negative");
      if (quantity > static_cast<double>(pools.size())) {
        throw InputError(
            InputFault{.key = "quantity",
                       .value = to_toml(quantity),
                       .message = fmt::format("member {} of group {} wants more data points than the "
                                              "data set has samples, which is {}",
                                              number + 1, group + 1, pools.size())});
      }
      members.push_back({group, number, static_cast<std::size_t>(quantity)});
    }
  }
  return members;
}

// How many of its samples a member has of each class. The stream belongs to the member, so asking again
// gives the same.
std::vector<std::size_t> class_counts(const LabelMix& mix, const Member& member, std::uint64_t seed) {
  RandomStream stream(seed, "class counts", member.group, member.number);
  return split_by_mix(mix, member.quantity, stream);
}

std::string named(const ClassPools& pools, std::size_t label) {
  return fmt::format("class {} ({})", label, pools.class_name(label));
}

// Whether every class has enough: together if disjoint, else for the member that wants most.
void check_supply(const PartitionOptions& options, const std::vector<LabelMix>& mixes,
                  const std::vector<Member>& members, const ClassPools& pools, std::uint64_t seed) {
  InputFaults faults;
  if (options.kind == Kind::iid) {
    std::size_t needed = 0;
    for (const Member& member : members) {
      needed += member.quantity;
    }
    if (options.disjoint && needed > pools.size()) {
      faults.add({.key = "quantity",
                  .message = fmt::format("all members together want {} data points and the data set has {}; "
                                         "ask for fewer, or let members share samples",
                                         needed, pools.size())});
    }
    faults.throw_if_any();
    return;
  }
  std::vector<std::size_t> needed(pools.num_classes(), 0);
  for (const Member& member : members) {
    const std::vector<std::size_t> counts = class_counts(mixes[member.group], member, seed);
    for (std::size_t label = 0; label < counts.size(); ++label) {
      needed[label] =
          options.disjoint ? needed[label] + counts[label] : std::max(needed[label], counts[label]);
    }
  }
  for (std::size_t label = 0; label < needed.size(); ++label) {
    if (needed[label] > pools.of(label).size()) {
      faults.add({.key = "quantity",
                  .message = fmt::format(
                      "{} data points of {} are needed {}, and the data set has {}; ask for "
                      "fewer{}",
                      needed[label], named(pools, label),
                      options.disjoint ? "by all members together" : "by one member", pools.of(label).size(),
                      options.disjoint ? ", or let members share samples" : "")});
    }
  }
  faults.throw_if_any();
}

// Classes that someone is to have, but that have no samples.
void check_classes(const PartitionOptions& options, const ClassPools& pools) {
  InputFaults faults;
  if (pools.size() == 0) {
    faults.add({.message = "the data set has no samples"});
  } else if (options.kind != Kind::iid) {
    for (std::size_t label = 0; label < pools.num_classes(); ++label) {
      const bool wanted = options.kind == Kind::dirichlet || options.label_sets.empty() ||
                          std::ranges::any_of(options.label_sets, [&](const LabelSet& set) {
                            return std::ranges::find(set, label) != set.end();
                          });
      if (wanted && pools.of(label).empty()) {
        faults.add({.message = named(pools, label) + " has no samples in the data set"});
      }
    }
  }
  faults.throw_if_any();
}

// Pools to deal from: those of the classes, or one of everything.
std::vector<std::span<const SampleIndex>> pools_of(Kind kind, const ClassPools& pools) {
  if (kind == Kind::iid) {
    return {pools.all()};
  }
  std::vector<std::span<const SampleIndex>> list;
  for (std::size_t label = 0; label < pools.num_classes(); ++label) {
    list.push_back(pools.of(label));
  }
  return list;
}

}  // namespace

std::vector<InputFault> faults_of(const PartitionOptions& options,
                                  std::span<const std::size_t> members_per_group, std::size_t num_classes) {
  InputFaults faults;
  const std::size_t num_groups = members_per_group.size();
  if (num_groups == 0) {
    faults.add({.message = "there are no groups to give data to"});
  }
  for (std::size_t group = 0; group < num_groups; ++group) {
    if (members_per_group[group] == 0) {
      faults.add({.message = fmt::format("group {} has no members to give data to", group + 1)});
    }
  }
  if (num_classes == 0) {
    faults.add({.message = "the data set has no classes"});
  }
  if (options.kind == Kind::labels && options.label_sets.empty() &&
      (options.labels_per_group < 1 || options.labels_per_group > num_classes)) {
    faults.add({.key = "labels_per_group",
                .value = fmt::format("{}", options.labels_per_group),
                .message = fmt::format("must be in [1, {}], the number of classes", num_classes)});
  }
  if (options.kind == Kind::labels && !options.label_sets.empty()) {
    if (options.label_sets.size() != num_groups) {
      faults.add(
          {.key = "label_sets",
           .message = fmt::format("has {} sets for {} groups", options.label_sets.size(), num_groups)});
    }
    for (std::size_t group = 0; group < options.label_sets.size(); ++group) {
      const LabelSet& labels = options.label_sets[group];
      const std::string key = fmt::format("label_sets[{}]", group);
      if (labels.empty()) {
        faults.add({.key = key, .message = "must not be empty"});
      }
      if (std::set<std::size_t>(labels.begin(), labels.end()).size() != labels.size()) {
        faults.add({.key = key, .message = "names a label twice"});
      }
      for (const std::size_t label : labels) {
        if (label >= num_classes) {
          faults.add({.key = key,
                      .value = fmt::format("{}", label),
                      .message = fmt::format("must be below {}, the number of classes", num_classes)});
        }
      }
    }
  }
  if (options.kind == Kind::dirichlet &&
      !(std::isfinite(options.dirichlet_concentration) && options.dirichlet_concentration > 0.0)) {
    faults.add({.key = "dirichlet_concentration",
                .value = fmt::format("{}", options.dirichlet_concentration),
                .message = "must be a number > 0"});
  }
  if (const std::string fault = options.quantity.spread.fault(options.quantity.allowed); !fault.empty()) {
    faults.add({.key = "quantity", .value = options.quantity.spread.to_toml(), .message = fault});
  }
  const std::size_t num_members =
      std::accumulate(members_per_group.begin(), members_per_group.end(), std::size_t{0});
  if (const auto size = options.quantity.list_size(); size.has_value() && *size != num_members) {
    faults.add(
        {.key = "quantity", .message = fmt::format("lists {} values for {} members", *size, num_members)});
  }
  return faults.list();
}

std::vector<std::vector<std::size_t>> choose_label_sets(std::size_t num_groups, std::size_t labels_per_group,
                                                        std::size_t num_classes, RandomStream& stream) {
  expect(labels_per_group >= 1 && labels_per_group <= num_classes,
         "a group has between one and all of the labels");
  const std::size_t num_sets =
      binomial(num_classes, std::min(labels_per_group, num_classes - labels_per_group), num_groups + 1);
  std::vector<LabelSet> sets;
  sets.reserve(num_groups);
  while (sets.size() < num_groups) {
    // A cycle of distinct sets; a whole cycle uses all classes equally.
    const std::size_t begin = sets.size();
    const std::size_t end = std::min(num_groups, begin + num_sets);
    std::vector<std::size_t> uses(num_classes, 0);
    std::set<LabelSet> present;
    while (sets.size() < end) {
      LabelSet set = least_used(uses, labels_per_group, stream);
      while (!present.insert(set).second) {
        set = next_set(std::move(set), num_classes);
      }
      for (const std::size_t label : set) {
        ++uses[label];
      }
      sets.push_back(std::move(set));
    }
    balance(std::span(sets).subspan(begin), present, num_classes);
  }
  return sets;
}

// Gamma variates, normalised. For a small shape a they underflow, so they are taken as logarithms:
// Gamma(a) = Gamma(a + 1) U^(1/a), and -log U is exponential.
LabelMix draw_dirichlet(std::size_t num_classes, double concentration, RandomStream& stream) {
  expect(num_classes > 0 && concentration > 0.0,
         "a Dirichlet mix needs classes and a positive concentration");
  LabelMix mix(num_classes);
  for (double& log_weight : mix) {
    log_weight = portable_log(stream.gamma(concentration + 1.0)) - stream.exponential() / concentration;
  }
  const double largest = *std::ranges::max_element(mix);
  double sum = 0.0;
  for (double& weight : mix) {
    weight = portable_exp(weight - largest);
    sum += weight;
  }
  for (double& weight : mix) {
    weight /= sum;
  }
  return mix;
}

Partition partition(const PartitionOptions& options, std::span<const std::size_t> members_per_group,
                    const ClassPools& pools, std::uint64_t seed) {
  InputFaults faults;
  faults.add_all(faults_of(options, members_per_group, pools.num_classes()));
  faults.throw_if_any();
  check_classes(options, pools);
  const std::vector<LabelMix> mixes = choose_mixes(options, members_per_group.size(), pools, seed);
  const std::vector<Member> members = choose_members(options, members_per_group, pools, seed);
  check_supply(options, mixes, members, pools, seed);

  std::vector<std::span<const SampleIndex>> sources = pools_of(options.kind, pools);
  std::vector<std::vector<SampleIndex>> decks;  // the sources shuffled, if they are dealt from
  std::vector<std::size_t> dealt(sources.size(), 0);
  if (options.disjoint) {
    for (std::size_t source = 0; source < sources.size(); ++source) {
      RandomStream stream(seed, "deck", source);
      stream.shuffle(decks.emplace_back(sources[source].begin(), sources[source].end()));
    }
  }

  Partition result;
  for (const LabelMix& mix : mixes) {
    result.groups.push_back({.mix = mix, .members = {}});
  }
  for (const Member& member : members) {
    const std::vector<std::size_t> counts = options.kind == Kind::iid
                                                ? std::vector<std::size_t>{member.quantity}
                                                : class_counts(mixes[member.group], member, seed);
    RandomStream stream(seed, "samples", member.group, member.number);
    std::vector<SampleIndex> samples;
    samples.reserve(member.quantity);
    for (std::size_t source = 0; source < counts.size(); ++source) {
      if (options.disjoint) {
        const auto first = decks[source].begin() + static_cast<std::ptrdiff_t>(dealt[source]);
        samples.insert(samples.end(), first, first + static_cast<std::ptrdiff_t>(counts[source]));
        dealt[source] += counts[source];
      } else {
        draw_distinct(sources[source], counts[source], stream, samples);
      }
    }
    stream.shuffle(samples);
    result.groups[member.group].members.push_back(std::move(samples));
  }
  return result;
}

}  // namespace skein
