#!/usr/bin/env bash
# Builds all fuzz targets with a nightly compiler and runs each for a moment, from its seeds.
#
#   fuzz/smoke.sh            both
#   fuzz/smoke.sh build      builds only
#
# The flags are those of cargo-fuzz, which need not be installed for this.
set -euo pipefail
cd "$(dirname "$0")"

host=$(rustc +nightly -vV | sed -n 's/^host: //p')
programs=${CARGO_TARGET_DIR:-target}/$host/smoke

build() {
  local coverage=(level=4 inline-8bit-counters pc-table trace-compares stack-depth)
  local flags="--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-simplifycfg-branch-fold-threshold=0"
  flags+=" -Zsanitizer=address -Zunstable-options"
  for kind in "${coverage[@]}"; do flags+=" -Cllvm-args=-sanitizer-coverage-$kind"; done
  RUSTFLAGS="$flags" cargo +nightly build --quiet --profile smoke --target "$host"
}

# One target: 20,000 inputs or 6 s, 4 s for those of the stack, which have most of their code in common. What it
# says is of interest when it fails.
# To reckon which inputs are rare (`entropic`) takes half the time where each runs through much code, and pays off in long runs only.
run() {
  local inputs said status=0 seconds=6
  [[ $1 = stack_* ]] && seconds=4
  inputs=$(mktemp -d)
  local folders=("$inputs")
  [ -d "seeds/$1" ] && folders+=("seeds/$1")
  [ "$1" = idl ] && folders+=(../crates/idl/tests/good ../crates/idl/tests/bad)
  mkdir -p "artifacts/$1"
  said=$("$programs/$1" -runs=20000 -max_total_time=$seconds -timeout=60 -len_control=0 -entropic=0 -verbosity=0 \
    -print_final_stats=1 \
    -artifact_prefix="artifacts/$1/" "${folders[@]}" 2>&1) || status=$?
  rm -r "$inputs"
  [ $status -eq 0 ] || { printf '%s\n' "$said"; return $status; }
  printf '%s: %s inputs\n' "$1" "$(sed -n 's/^stat::number_of_executed_units: *//p' <<<"$said")"
}

case ${1:-} in
  run) run "$2" ;;
  build) build ;;
  *)
    build
    targets=$(basename -s .rs fuzz_targets/*.rs)
    xargs -P "$(nproc)" -n 1 ./smoke.sh run <<<"$targets"
    ;;
esac
