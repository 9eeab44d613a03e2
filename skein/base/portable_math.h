// Logarithm and exponential from IEEE basic operations alone: the same bits with any C library.
// Accuracy about 2 ulp. For random variates only; everything else uses <cmath>.
#pragma once

namespace skein {

// Natural logarithm of a positive, finite x.
double portable_log(double x);

// e^x; 0 below about -745, infinity above about 709.8.
double portable_exp(double x);

// Quantile of the standard normal distribution, 0 < p < 1 (Wichura's algorithm AS 241, PPND16).
double normal_quantile(double p);

}  // namespace skein
