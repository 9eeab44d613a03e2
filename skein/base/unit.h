// Units of the edge: how a number in a scenario or a table becomes an SI quantity, and back.
#pragma once

#include <cmath>
#include <string_view>
#include <type_traits>

#include "skein/base/quantity.h"

namespace skein {

// The quantity that a number of this unit stands for: a Quantity, or double for a pure number or ratio.
template <class Q>
struct Unit {
  enum class Scale { linear, decibel };

  std::string_view name;  // as printed: "kJ"; empty for a pure number
  double factor = 1.0;    // SI value of 1 (linear) or of 0 dB (decibel)
  Scale scale = Scale::linear;

  [[nodiscard]] Q to_si(double number) const {
    const double si = scale == Scale::linear ? number * factor : factor * std::pow(10.0, number / 10.0);
    return Q(si);
  }

  [[nodiscard]] double from_si(Q quantity) const {
    double si = 0.0;
    if constexpr (std::is_same_v<Q, double>) {
      si = quantity;
    } else {
      si = quantity.si();
    }
    return scale == Scale::linear ? si / factor : 10.0 * std::log10(si / factor);
  }
};

namespace unit {
inline constexpr Unit<double> number{""};
inline constexpr Unit<double> decibel{"dB", 1.0, Unit<double>::Scale::decibel};
inline constexpr Unit<Length> metre{"m"};
inline constexpr Unit<Area> square_metre{"m^2"};
inline constexpr Unit<Mass> kilogram{"kg"};
inline constexpr Unit<Density> kilogram_per_cubic_metre{"kg/m^3"};
inline constexpr Unit<Time> second{"s"};
inline constexpr Unit<Frequency> hertz{"Hz"};
inline constexpr Unit<Frequency> megahertz{"MHz", 1e6};
inline constexpr Unit<Frequency> gigahertz{"GHz", 1e9};
inline constexpr Unit<Speed> metre_per_second{"m/s"};
inline constexpr Unit<Energy> joule{"J"};
inline constexpr Unit<Energy> kilojoule{"kJ", 1e3};
inline constexpr Unit<Power> watt{"W"};
inline constexpr Unit<Power> dbm{"dBm", 1e-3, Unit<Power>::Scale::decibel};
inline constexpr Unit<PowerDensity> dbm_per_hertz{"dBm/Hz", 1e-3, Unit<PowerDensity>::Scale::decibel};
inline constexpr Unit<DataSize> bit{"bit"};
inline constexpr Unit<DataSize> kilobit{"kbit", 1e3};
inline constexpr Unit<DataRate> megabit_per_second{"Mbit/s", 1e6};
inline constexpr Unit<Capacitance> capacitance{"J/(cycle Hz^2)"};
}  // namespace unit

}  // namespace skein
