// What a round of training leaves of accuracy to be won, in percentage points, as problem P predicts it: by
// how much each worker trains, and on how much data.
//
//   L = sum_j (A_j D_j / Delta) [ (e_n / 3) sum_n (n_0 / (3 K_L tau_L alpha_jn D_j))^q + e_d (d_0 / D_j)^p ]
//
// the mean over workers, weighted as their models are. Where all mini-batches are alike, the first part is
// e_n (n_0 / N_j)^q with N_j = K_L tau_L A_j D_j, the points that the worker processes in a visit. Points of
// several workers do not add up, and measured accuracy does not either: 256 steps on each of three workers
// bring no more than on one.
//
// The defaults are of Fashion-MNIST's default mission with mini-batches of 32: mean accuracy over time 53.3,
// 70.7 and 79.4 % for 16, 64 and 256 steps a visit fits 88 - 8.7 (8192 / N)^0.5. What more data would bring
// was measured at one size only: models of 500 points a visit are 3 points below those of unlimited data.
#pragma once

namespace skein {

struct AccuracyLoss {
  double training_loss = 8.7;       // e_n: percentage points that are left
  double training_points = 8192.0;  // n_0: after so many, with repetitions
  double training_exponent = 0.5;   // q, from 0 to 1
  double data_loss = 3.0;           // e_d: percentage points that are left
  double data_points = 500.0;       // d_0: with so many different ones
  double data_exponent = 0.5;       // p, from 0 to 1
};

}  // namespace skein
