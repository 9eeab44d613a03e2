// Stationarity of P, from a decision and multipliers of its limits, whoever found them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "skein/offloading/instance.h"
#include "skein/offloading/offloader.h"
#include "skein/offloading/restrictions.h"

namespace skein {

// "worker 2: battery".
std::string limit_name(LimitKind kind, std::size_t index, std::size_t num_workers);

// Of decisions for rounds that share the batteries. Variables are rho, relayed data, alpha and g, each in
// units of its range; bounds are those of P with `restrictions`. Reduced costs are the Lagrangian's gradient
// where a variable is at its bound; elsewhere it must vanish.
OffloadCertificate certify(std::span<const OffloadingInstance> rounds,
                           std::span<const OffloadDecision> decisions,
                           std::span<const LimitMultipliers> multipliers,
                           const OffloadRestrictions& restrictions);

// Makes a decision of an interior-point method exact: shares are from 0 to 1 and sums above their limit are
// scaled down, nothing is sent to who relays nothing, processors run as fast as the time asks (the limit, or
// what the round lasts where that has a price). What remains
// violated is rounding.
void polish(const OffloadingInstance& instance, const OffloadRestrictions& restrictions,
            OffloadDecision& decision);

}  // namespace skein
