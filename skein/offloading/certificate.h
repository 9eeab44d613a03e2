// Stationarity of P, from a decision and multipliers of its limits, whoever found them.
#pragma once

#include <span>
#include <vector>

#include "skein/offloading/direct_program.h"
#include "skein/offloading/instance.h"
#include "skein/offloading/offloader.h"

namespace skein {

// Of decisions for rounds that share the batteries. Variables are rho, relayed data, alpha and g, each in
// units of its range; bounds are those of P with `restrictions`. Reduced costs are the Lagrangian's gradient
// where a variable is at its bound; elsewhere it must vanish.
OffloadCertificate certify(std::span<const OffloadingInstance> rounds,
                           std::span<const OffloadDecision> decisions,
                           std::span<const LimitMultipliers> multipliers,
                           const OffloadRestrictions& restrictions);

// Makes a decision of an interior-point method exact: shares that are as good as 0 become 0, sums above their
// limit are scaled down, processors run fast enough. What remains violated is rounding.
void polish(const OffloadingInstance& instance, const OffloadRestrictions& restrictions,
            OffloadDecision& decision);

}  // namespace skein
