#!/usr/bin/env bash
# Installs a built tree into an empty prefix, moves it, builds the examples against it and looks at what they print.
#
#   install_test.sh CMAKE BUILD_DIRECTORY COMPILER [FLAGS]
set -euo pipefail
cmake=$1 build=$2 compiler=$3 flags=${4-}

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place"

fail() {
  echo "FAILED: $*" >&2
  exit 1
}
# quietly LOG COMMAND...: the log is shown only if the command fails.
quietly() {
  local log=$1
  shift
  "$@" > "$log" 2>&1 || { cat "$log" >&2; fail "$*"; }
}
# says FILE PATTERN...: every pattern is in the file.
says() {
  local file=$1 pattern
  shift
  for pattern in "$@"; do
    grep -qE -- "$pattern" "$file" || { cat "$file" >&2; fail "$file does not say: $pattern"; }
  done
}

quietly install.log "$cmake" --install "$build" --prefix "$place/first"
mv first prefix  # nothing may hold the place where it was installed
prefix=$place/prefix
version=$("$prefix/bin/skein" --version)

# Every header brings what it needs, and none those of others that are slow to read.
(cd "$prefix/include" && find skein -name '*.h' | sort | sed 's/.*/#include "&"/') > headers.cc
quietly headers.log "$compiler" -std=c++20 -fsyntax-only -Wall -Werror -I "$prefix/include" headers.cc
if grep -rnE '#include <(nlohmann/json.hpp|toml|Eigen|CLI|png|zlib)' "$prefix/include"; then
  fail "headers that a user must not need"
fi

# With CMake.
examples=$prefix/share/doc/libskein-dev/examples
quietly configure.log "$cmake" -S "$examples" -B built -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$compiler" \
  -DCMAKE_CXX_FLAGS="-O0 $flags" -DCMAKE_BUILD_TYPE=
quietly build.log "$cmake" --build built --parallel 2
scenario=$prefix/share/skein/scenarios/smoke.toml
quietly geometric_program.txt built/geometric_program
quietly offloading_problem.txt built/offloading_problem "$(dirname "$scenario")/paper/offloading-published.toml" 0.3
quietly own_algorithm.txt built/own_algorithm
quietly own_planner.txt built/own_planner "$scenario"
quietly run_mission.txt built/run_mission "$scenario" mine
[[ -f mine/summary.json && -f mine/models/global.safetensors ]] || fail "a mission without its files"
says run_mission.txt 'smoke: 4 training sequences in [0-9]+ s' 'models: [0-9.]+ % at the end' 'travel +[0-9.]+ kJ'
says own_planner.txt 'oldest_first +[0-9.]+ % +[0-9.]+ sequences +[0-9.]+ kJ' '^beam'
says offloading_problem.txt 'newton: objective [0-9.]+, energy [0-9.]+ J, KKT' 'worker 1: gets +[0-9.]+ points' '^greedy'
says own_algorithm.txt 'own: plain steps, by data +24 +[0-9.]+ %' 'HN-PFL +24' 'FedAvg +24'
says geometric_program.txt 'Solved in [0-9]+ steps' 'device 3 sends at 200\.00 mW' 'heard [0-9.]+ dB above noise'

# By pkg-config alone.
export PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name skein.pc)")
[[ "skein $(pkg-config --modversion skein)" == "$version" ]] || fail "pkg-config and $version disagree"
# shellcheck disable=SC2046
quietly by_hand.log "$compiler" -std=c++20 $flags "$examples/geometric_program.cc" -o by_hand \
  $(pkg-config --cflags --libs skein)
./by_hand > by_hand.txt
cmp by_hand.txt geometric_program.txt || fail "the same program, built in two ways"

# The program finds what was installed beside it.
quietly run.log "$prefix/bin/skein" run "$scenario" --out run
says run.log 'smoke, seed 1: 2 training sequences'
echo "installed, built and run: $version"
