// Who gets which data: groups (clusters or swarms) with a label mix each, and their members (devices or
// workers) with samples of that mix.
//
// The paper's proof of concept (section VI-A): every swarm has data of 3 labels only, in a quantity
// N(2500, 250). The quantity is per worker here, as in the published study, and split equally over the
// labels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "skein/base/distribution.h"
#include "skein/base/input_fault.h"
#include "skein/base/names.h"
#include "skein/data/class_pools.h"

namespace skein {

struct PartitionOptions {
  enum class Kind {
    labels,     // each group has a few labels, in equal parts
    dirichlet,  // each group's mix is drawn from Dirichlet(concentration, ..., concentration)
    iid,        // every member has a simple random sample of the whole data set
  };
  friend constexpr auto names_of(Kind) { return names_for<Kind>("labels", "dirichlet", "iid"); }
  Kind kind = Kind::labels;
  std::size_t labels_per_group = 3;
  // The labels of each group, if they are given rather than chosen; labels_per_group is then not used.
  std::vector<std::vector<std::size_t>> label_sets;
  // Small: few labels hold nearly all of a group's data. Large: all classes alike.
  double dirichlet_concentration = 0.5;
  // Data points of a member; a list has one number per member, groups in order.
  Distribution<double> quantity{normal(2500, 250), unit::number, Range{.low = 1.0, .whole = true}};
  // No sample goes to two members. Otherwise members draw independently; one member's samples are distinct
  // in either case.
  bool disjoint = false;
};

struct GroupShare {
  LabelMix mix;
  std::vector<std::vector<SampleIndex>> members;  // the samples of each, in random order
};

struct Partition {
  std::vector<GroupShare> groups;
};

// Everything that can be said without the data: options out of range, no groups, an empty group, more labels
// per group than classes. `members_per_group` has one number per group.
std::vector<InputFault> faults_of(const PartitionOptions& options,
                                  std::span<const std::size_t> members_per_group, std::size_t num_classes);

// Label sets for `num_groups` groups: each has `labels_per_group` of `num_classes` labels, ascending. Every
// class is used equally often, give or take one, so all are covered if there are enough groups; no two
// groups have the same set before every possible set has been used. Needs 1 <= labels_per_group <=
// num_classes.
std::vector<std::vector<std::size_t>> choose_label_sets(std::size_t num_groups, std::size_t labels_per_group,
                                                        std::size_t num_classes, RandomStream& stream);

// A draw from the symmetric Dirichlet distribution; any positive concentration, however small.
LabelMix draw_dirichlet(std::size_t num_classes, double concentration, RandomStream& stream);

// Deals the data out; the cost is linear in the number of samples handed out. Throws InputError with every
// reason why it cannot be done: the faults above, a class without samples, or more data points of a class
// wanted than there are.
Partition partition(const PartitionOptions& options, std::span<const std::size_t> members_per_group,
                    const ClassPools& pools, std::uint64_t seed);

}  // namespace skein
