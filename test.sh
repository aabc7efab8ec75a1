#!/usr/bin/env bash
# Passes all tests, and installs what they need: Debian packages (as root, or told which are missing), cargo-deny, targets
# and components of the toolchains.
#
#   ./test.sh            everything
#   ./test.sh --fast     formatting, lints and the workspace's tests only
#
# Most tests wait more than they compute. So several of their programs run at a time, and what later steps need is built
# beside them, at the lowest priority.
set -euo pipefail
cd "$(dirname "$0")"

fast=false
[ "${1:-}" = "--fast" ] && fast=true

# Whoever builds once has no use for what speeds a second build up, nor for a debugger.
[ -n "${CI:-}" ] && export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0 CARGO_PROFILE_RELEASE_DEBUG=0
export THROUGHLINE_PEERS=${THROUGHLINE_PEERS:-${CARGO_TARGET_DIR:-$PWD/target}/peers}

step() { printf '\n== %s (after %d s)\n' "$*" $SECONDS; }
skipped() { printf 'SKIPPED: %s\n' "$*" >&2; }
# Continuous integration has 25 minutes. Of what comes after the workspace's tests, a step that takes so many seconds is left out
# if fewer are left. If what it needs is not built yet, it is put off, unless that is built first, which may take longer; what was
# put off waits for it when all others have had their turn. Without CI nothing is left out.
late=false
later=()
in_time() {
  local name=$1 seconds=$2 need=${3:-}
  [ -n "${CI:-}" ] || return 0
  if $late; then
    until is_built "$need" || ! has_time "$seconds"; do sleep 1; done
  elif is_built "$need"; then
    :
  elif [ "$need" = "${needs[0]}" ]; then
    seconds=$((seconds + 100))
  else
    later+=("$part")
    echo "put off: what it needs is not built yet"
    return 1
  fi
  has_time "$seconds" || { skipped "$name: $SECONDS of the 1500 s have passed"; return 1; }
}
has_time() { [ $((SECONDS + $1)) -lt 1460 ]; }
is_built() { [ -z "$1" ] || [ -e "$work/$1.status" ]; }

# --- Beside everything else ---

work=$(mktemp -d)
group=
clean() {
  [ -z "$group" ] || kill -- "-$group" 2>/dev/null || true
  rm -rf "$work"
}
trap clean EXIT
trap 'exit 130' INT TERM

# Runs functions one after another, in a process group of their own. Their output and status are kept for `finish`.
beside() {
  set -m
  {
    renice -n 19 -p "$BASHPID" >/dev/null || true
    set +e
    for part in "$@"; do
      (set -e; "$part") >"$work/$part.log" 2>&1
      echo $? >"$work/$part.ended"
      mv "$work/$part.ended" "$work/$part.status"
    done
  } </dev/null &
  group=$!
  set +m
}

# Lowers their priority or, as root, raises it again: 0 is that of everything else.
give_priority() { renice -n "$1" -g "$group" >/dev/null 2>&1 || true; }

# Waits for one of these functions, shows what it said, and fails if it did.
finish() {
  until [ -e "$work/$1.status" ]; do
    kill -0 "$group" 2>/dev/null || [ -e "$work/$1.status" ] || { echo "$1 was not run" >&2; return 1; }
    sleep 0.1
  done
  cat "$work/$1.log" >&2
  return "$(cat "$work/$1.status")"
}

# --- What is needed ---

needed=(g++ make omniorb omniidl omniorb-idl omniorb-nameserver libomniorb4-dev tshark tcpdump valgrind strace iproute2 iputils-ping frr curl)

packages() {
  command -v dpkg-query >/dev/null || { skipped "no dpkg here: tests against omniORB, tshark and valgrind skip themselves"; return; }
  # What gcc-multilib stands for, which would remove compilers for other processors. A gcc of no package has none for it.
  if [ "$(uname -m)" = x86_64 ] && dpkg-query -S "$(readlink -f "$(command -v gcc)")" >/dev/null 2>&1; then
    needed+=(libc6-dev-i386 "lib32gcc-$(gcc -dumpversion)-dev")
  fi
  missing=()
  for package in "${needed[@]}"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return
  if [ "$(id -u)" -eq 0 ]; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "${missing[@]}" >/dev/null
  else
    skipped "not root: install ${missing[*]} to run the tests that need them"
  fi
}

# omniORB's programs. Without omniORB the tests that need them say so.
peers() {
  command -v omniidl >/dev/null && [ -e /usr/include/omniORB4/CORBA.h ] || return 0
  make -s -j "$(nproc)" -C interop OUT="$THROUGHLINE_PEERS"
}

has_nightly() { rustup toolchain list 2>/dev/null | grep -q '^nightly'; }

under_loom() { RUSTFLAGS="--cfg loom" cargo test --quiet --profile many --target-dir "${CARGO_TARGET_DIR:-target}/loom" "$@"; }
interleavings() {
  under_loom -p throughline-demux --test loom "$@"
  under_loom -p throughline-vi --lib "$@"
}
build_interleavings() { interleavings --no-run; }

# What users build. Continuous integration has no time to optimise all of it across crates, as users of the libraries don't by
# default; the counts that depend on that are those of headers.
release() {
  if [ -n "${CI:-}" ]; then
    CARGO_PROFILE_RELEASE_LTO=false CARGO_PROFILE_RELEASE_CODEGEN_UNITS=1 cargo "$@"
  else
    cargo "$@"
  fi
}
build_released() {
  cargo build --quiet --release -p throughline-instruction-tests --no-default-features --bin header_instructions
  # At once: with features of their own, each would have most crates built anew.
  release build --quiet --release -p throughline-instruction-tests -p throughline-lab -p throughline \
    --bin lookup_instructions --bin batch_instructions --bin threaded_instructions --bin throughline-lab \
    --test trace_rate --test native_together --message-format=json >"$work/released"
}
release_folder=${CARGO_TARGET_DIR:-$PWD/target}/release
# The program of a test that is built so.
released() { sed -n 's/.*"executable":"\([^"]*'"$1"'-[^"]*\)".*/\1/p' "$work/released"; }

# Not optimised, since it takes longer to build than to run.
install_deny() {
  command -v cargo-deny >/dev/null || CARGO_PROFILE_DEV_DEBUG=0 cargo install --quiet --locked --debug cargo-deny
}

# Of the tables of others only hashbrown's is needed. Compiled as the lab's are, its dependencies are there already.
flow_bench() { CARGO_PROFILE_RELEASE_CODEGEN_UNITS=4 release "$@" --manifest-path bench/flow-table/Cargo.toml; }
build_flow_bench() {
  flow_bench fmt --check
  flow_bench build --quiet --release --target-dir "${CARGO_TARGET_DIR:-target}"
}
# All tables must find the same; the times of so short a run say little.
run_flow_bench() {
  local program=${CARGO_TARGET_DIR:-target}/release/flow-table-bench
  "$program" --quick --json >"$work/rows.json"
  "$program" --from "$work/rows.json" --svg "$work/rows.svg"
  "$program" --quick --readers --inserts --sweeps --memory
  "$program" --changes 1000 --flows 2000 --tables hashbrown
}

# That it fits the lab, whose tests run the peers; iceoryx2 takes minutes to build.
calls_bench() { cargo "$@" --manifest-path bench/calls/Cargo.toml; }
check_calls_bench() {
  calls_bench fmt --check
  calls_bench check --quiet --no-default-features --target-dir "${CARGO_TARGET_DIR:-target}"
}

build_fuzz() { ! has_nightly || fuzz/smoke.sh build; }

# Under Miri; `PROPTEST_CASES` says how many cases are enough. To find out where a panic comes from takes seconds there, also of
# one that a test intends.
miri() {
  local flags=$1
  shift
  MIRIFLAGS="-Zmiri-disable-isolation -Zmiri-permissive-provenance $flags" PROPTEST_CASES=2 RUST_BACKTRACE=0 \
    cargo +nightly miri test --quiet "$@"
}
# In Miri's own order of borrows. The tests of a crate whose code is `unsafe` go here by name; those that would take
# minutes are marked `ignore` under `miri`.
miri_strict() { miri "" -p throughline-demux --test arena --test locators "$@"; }
# crossbeam-epoch finds a thread's record by its list entry, which Stacked Borrows do not allow and Tree Borrows do, and
# never frees its queue. Tables of names are made of what lives for ever.
miri_epochs() { miri "-Zmiri-tree-borrows -Zmiri-ignore-leaks" -p throughline-demux --test shared_locators --test names "$@"; }

# Records in flow tables are owned by nothing but their tags: with the provenance of every address. The owner's tests are
# run in one order of borrows only, for the sake of time.
miri_flows() { miri "-Zmiri-strict-provenance" -p throughline-demux "$@"; }
miri_few() { miri_flows --lib -- flow_table::few; }
miri_many() { miri_flows --lib -- --skip flow_table::few; }
miri_liars() { miri_flows --test flow_table_liars; }
miri_owners() { miri_flows --test flow_table --test flow_table_memory --test flow_table_sweep --test flow_readers; }
miri_trees() { miri "-Zmiri-strict-provenance -Zmiri-tree-borrows" -p throughline-demux "$@"; }
miri_few_in_trees() { miri_trees --lib -- flow_table::few && miri_trees --test flow_readers; }
miri_many_in_trees() { miri_trees --lib -- --skip flow_table::few; }

# What of the Virtual Interfaces needs no memory of other processes. Miri's model of weak memory knows accesses of one size
# only; a ring's lines are written as words and read as bytes.
miri_vi() { miri "-Zmiri-disable-weak-memory-emulation" -p throughline-vi --lib "$@" -- memory:: exclusive:: shm::ring shm::hello; }

# Vectors that are filled with what was not at hand.
miri_tail() { miri "" -p throughline-cdr --test tail --test in_out "$@"; }

# The manipulation of data, messages, and the ring that is shared with the kernel, which a test plays.
miri_stack() { miri "" -p throughline-stack --lib "$@" -- manipulate:: message:: device::packet::ring; }

prepare_miri() {
  has_nightly || return 0
  rustup component add --toolchain nightly miri rust-src 2>/dev/null || return 0
  cargo +nightly miri setup >/dev/null
  miri_strict --no-run
  miri_epochs --no-run
  miri_flows --lib --tests --no-run
  miri_vi --no-run
  miri_stack --no-run
  miri_tail --no-run
}

# --- The workspace's tests ---

# Clippy's compiler compiles the tests: so each crate is compiled once, not once to be checked and once more to be run. It is how
# `cargo clippy` has crates checked.
linted() {
  RUSTC_WORKSPACE_WRAPPER="$(rustc --print sysroot)/bin/clippy-driver" CLIPPY_ARGS=-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__ cargo "$@"
}

# Those that measure what passes between processes, or how soon after its time a call or a connection ends, need the machine for
# themselves.
alone='/(lab[[:space:]].*/processes|orb[[:space:]].*/(hostile_endings|hostile_memory|native_hostile_servers|shared_connection))-'
# Those that count what is built as users build it.
counted='/instruction-tests[[:space:]]'
# Those that take longest begin first.
long='/(new|omniorb_files|trace_debian|lookups|ours|omniorb_client|omniorb_server|captured|demo)-'

# Runs one program as cargo would. Only its result is shown, and why tests were skipped; or everything, if it fails.
run_program() {
  local log status=0
  log=$(mktemp -p "$work")
  (cd "$1" && "$2" --quiet) >"$log" 2>&1 || status=$?
  if [ $status -eq 0 ]; then
    printf '%s %s, %d s: %s\n' "${1##*/}" "$(basename "${2%-*}")" $SECONDS \
      "$(grep -aE '^test result|SKIPPED' "$log" | sed 's/^test result: //')"
  else
    # Whole, whoever else writes.
    flock "$work" cat "$log"
    printf '%s %s FAILED, status %d\n' "${1##*/}" "$(basename "$2")" $status
  fi
  return $status
}
export -f run_program
export work

# Programs that are listed on standard input, folder and path in turn, so many at a time.
run_programs() { xargs -r -d '\n' -P "$1" -n 2 bash -c 'run_program "$@"' _; }

# cargo says where each program wants to be run when it "runs" it.
tests() {
  printf '#!/bin/sh\nprintf "%%s\\t%%s\\n" "$PWD" "$1" >>"%s/programs"\n' "$work" >"$work/note"
  chmod +x "$work/note"
  linted test --workspace --quiet --lib --bins --tests --config "target.'cfg(all())'.runner = ['$work/note']" >"$work/noted"
  local listed="$work/programs"
  # Of what is built for that, further below.
  if ! $fast; then
    grep -E "$counted" "$listed" >"$work/counted"
    grep -E '/experiments-' "$listed" >"$work/experiments"
    sed -Ei '/\/(experiments|trace_rate|native_together)-/d; '"\,$counted,d" "$listed"
  fi
  { grep -E "$long" "$listed"; grep -vE "$long|$alone" "$listed"; } | tr '\t' '\n' | run_programs $((2 * $(nproc)))
  grep -E "$alone" "$listed" | tr '\t' '\n' | run_programs 1
  linted test --workspace --quiet --doc >"$work/doc" 2>&1 || { cat "$work/doc"; return 1; }
}

# --- What takes turns in continuous integration, which has no time for all of it ---

documentation() {
  step "Documentation"
  in_time "the documentation" 125 || return 0
  RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet
}

other_targets() {
  step "Other targets: no operating system; another processor"
  in_time "other targets" 50 || return 0
  if rustup target add x86_64-unknown-none 2>/dev/null; then
    cargo build --quiet -p throughline-demux -p throughline-wire --no-default-features --target x86_64-unknown-none
  else
    skipped "the target x86_64-unknown-none cannot be installed"
  fi
  # Without features: all but the tests and examples that need them.
  cargo check --quiet -p throughline-demux --no-default-features --all-targets
  # Firmware without atomic integers of 64 bits.
  if rustup target add thumbv7em-none-eabi 2>/dev/null; then
    cargo check --quiet -p throughline-demux --no-default-features --target thumbv7em-none-eabi
  else
    skipped "the target thumbv7em-none-eabi cannot be installed"
  fi
  if rustup target add aarch64-unknown-linux-gnu 2>/dev/null; then
    cargo check --quiet -p throughline -p throughline-demux --features throughline-demux/swiss,throughline-demux/huge-pages \
      --target aarch64-unknown-linux-gnu
  else
    skipped "the target aarch64-unknown-linux-gnu cannot be installed"
  fi
}

# Lengths that strangers send, times the size of what they count, overflow there where they don't with 64 bits.
narrow_addresses() {
  step "Addresses of 32 bits: lookups, and what reads captures and messages"
  in_time "addresses of 32 bits" 130 || return 0
  if ! echo 'int main(void) { return 0; }' | cc -m32 -x c -o "$work/narrow" - 2>/dev/null; then
    skipped "programs with addresses of 32 bits cannot be linked here (on x86-64: install libc6-dev-i386 and lib32gcc-12-dev, or what belongs to your gcc)"
  elif rustup target add i686-unknown-linux-gnu 2>/dev/null; then
    cargo test --quiet --target i686-unknown-linux-gnu -p throughline-demux -p throughline-cdr -p throughline-giop \
      -p throughline-wire -p throughline-capture
  else
    skipped "the target i686-unknown-linux-gnu cannot be installed"
  fi
}

experiments() {
  step "Experiments of what users build"
  in_time "experiments" 130 build_released || return 0
  finish build_released
  give_priority 19
  # Not by cargo, which would build what the lab needs anew, with the features that it alone asks for.
  tr '\t' '\n' <"$work/experiments" | THROUGHLINE_LAB=$release_folder/throughline-lab run_programs 1
}

counts() {
  step "Instructions, the rate of trace and datagrams of calls, of what users build"
  in_time "counts" 70 build_released || return 0
  finish build_released
  give_priority 19
  printf '%s\n' crates/lab "$(released trace_rate)" crates/orb "$(released native_together)" | run_programs 1
  tr '\t' '\n' <"$work/counted" | THROUGHLINE_INSTRUCTIONS=$release_folder run_programs "$(nproc)"
}

fuzzing() {
  step "Fuzz targets, a short run of each"
  in_time "fuzzing" 100 build_fuzz || return 0
  finish build_fuzz
  if has_nightly; then
    fuzz/smoke.sh
  else
    skipped "fuzzing needs a nightly toolchain (rustup toolchain install nightly)"
  fi
}

loom() {
  step "Interleavings of threads (loom)"
  in_time "loom" 110 build_interleavings || return 0
  finish build_interleavings
  interleavings
}

has_miri() {
  finish prepare_miri || exit 1
  cargo +nightly miri --version >/dev/null 2>&1 ||
    { skipped "Miri is not installed (rustup component add --toolchain nightly miri)"; return 1; }
}

# Two functions at a time. What the second says is shown at the end.
both() {
  local status=0
  "$2" >"$work/second" 2>&1 &
  "$1" || status=$?
  wait $! || status=$?
  cat "$work/second"
  return $status
}

miri_first() { miri_strict && miri_vi; }
miri_second() { miri_epochs && miri_stack && miri_tail; }

# Where, in how many seconds, and the two functions that look there.
undefined() {
  step "Undefined behaviour $1 (Miri)"
  in_time "Miri, $1" "$2" prepare_miri || return 0
  ! has_miri || both "$3" "$4"
}
undefined_in_flows() { undefined "in flow tables" 280 miri_few miri_many; }
undefined_for_owners() { undefined "in flow tables, by their owners' tests" 300 miri_liars miri_owners; }
# It takes longer than continuous integration has on two cores.
undefined_in_trees() { undefined "in flow tables, in another order of borrows" 600 miri_few_in_trees miri_many_in_trees; }
undefined_elsewhere() { undefined "elsewhere" 280 miri_first miri_second; }

licences() {
  step "Licences and sources (cargo deny)"
  in_time "cargo deny" 30 install_deny || return 0
  finish install_deny
  cargo deny --log-level error check bans licenses sources
}

benches() {
  step "Benchmarks: calls beside others', checked; FlowTable beside the tables of others, a short run"
  in_time "the benchmarks" 120 build_flow_bench || return 0
  check_calls_bench
  finish build_flow_bench
  run_flow_bench
}

# Each commit begins with another, and what comes first is built first; beside what needs nothing, what comes after it.
last=(
  documentation experiments other_targets counts fuzzing undefined_in_flows licences undefined_for_owners loom undefined_in_trees
  benches undefined_elsewhere narrow_addresses
)
needs=(
  build_released build_released build_released build_released build_fuzz prepare_miri install_deny prepare_miri
  build_interleavings prepare_miri build_flow_bench prepare_miri build_released
)
begin=$((16#$(git rev-parse --short=4 HEAD 2>/dev/null || echo 0) % ${#last[@]}))
last=("${last[@]:begin}" "${last[@]:0:begin}")
mapfile -t needs < <(printf '%s\n' "${needs[@]:begin}" "${needs[@]:0:begin}" | awk '!seen[$0]++')

# --- The steps ---

ahead=(packages peers)
$fast || ahead+=("${needs[@]}")
step "Packages"
beside "${ahead[@]}"
# Nothing can be linked without a C compiler, which is among the packages.
command -v cc >/dev/null || finish packages

step "Formatting, lints, and tests built"
cargo fmt --all --check
linted test --workspace --quiet --no-run

step "Tests"
finish packages
finish peers
tests

$fast && exit 0

# Now what is built first is needed; what comes after it only if there is time.
give_priority 0
for part in "${last[@]}"; do
  "$part"
  give_priority 19
done
late=true
for part in "${later[@]}"; do
  "$part"
done

step "All passed"
