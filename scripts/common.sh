# What scripts/run and scripts/test share: installing packages, configuring, building. Sourced, not run.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() { echo "skein: $*" >&2; }

# run_quietly LOG COMMAND...: the command's output goes to LOG, and is shown only if the command fails.
run_quietly() {
  local log=$1 status=0
  shift
  mkdir -p "$(dirname "$log")"
  "$@" > "$log" 2>&1 || status=$?
  if ((status != 0)); then
    cat "$log" >&2
    say "failed with status $status: $*"
    exit "$status"
  fi
}

# install_packages KIND...: installs what scripts/packages.txt lists for these kinds, if it is missing. A program
# that is there counts, wherever it came from.
install_packages() {
  local wanted=() missing=() reasons=() package kind reason installed
  while read -r package kind reason; do
    if [[ $package != '#' && -n $package && " $* " == *" $kind "* ]]; then
      wanted+=("$package")
      reasons+=("$reason")
    fi
  done < "$root/scripts/packages.txt"
  if ! command -v apt-get > /dev/null || ! command -v dpkg-query > /dev/null; then
    say "no apt here; this must be installed already: ${wanted[*]}"
    return
  fi
  installed=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' "${wanted[@]}" 2> /dev/null || true)
  for i in "${!wanted[@]}"; do
    if ! grep -qxF "${wanted[i]} installed" <<< "$installed" && ! command -v "${wanted[i]}" > /dev/null; then
      ((${#missing[@]} > 0)) || say "these Debian packages are missing and will be installed:"
      missing+=("${wanted[i]}")
      printf '  %-22s %s\n' "${wanted[i]}" "${reasons[i]}" >&2
    fi
  done
  ((${#missing[@]} > 0)) || return 0

  local as_root=()
  if ((EUID != 0)); then
    if ! command -v sudo > /dev/null; then
      say "installing needs root, and there is no sudo. As root: apt-get install ${missing[*]}"
      exit 1
    fi
    as_root=(sudo)
    sudo -v
  fi
  run_quietly "$root/build/apt.log" "${as_root[@]}" apt-get -q update
  run_quietly "$root/build/apt.log" "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -q -y --no-install-recommends install "${missing[@]}"
}

# configure PRESET OPTION...: only where it has not been done, or the presets have changed since. Changed
# CMake files and new sources are noticed by the build itself.
configure() {
  local preset=$1 stamp="$root/build/$1/configured"
  shift
  if [[ ! -f $stamp || $root/CMakePresets.json -nt $stamp ]]; then
    say "configuring build/$preset"
    run_quietly "$root/build/$preset/configure.log" cmake -S "$root" --preset "$preset" "$@"
    touch "$stamp"
  fi
}

# with_tests PRESET: is it configured to build the tests too?
with_tests() { grep -qsx 'SKEIN_TESTS:BOOL=ON' "$root/build/$1/CMakeCache.txt"; }

# build PRESET [TARGET...]: shows progress on a terminal, and elsewhere only what fails.
build() {
  local options=(--build "$root/build/$1" --parallel "$(nproc)")
  [[ -z ${2-} ]] || options+=(--target "${@:2}")
  if [[ -t 1 ]]; then
    cmake "${options[@]}"
  else
    run_quietly "$root/build/$1/build.log" cmake "${options[@]}" -- --quiet
  fi
}
