#!/usr/bin/env bash
# Passes all tests, and installs what they need: Debian packages (as root, or told which are missing) and cargo tools.
#
#   ./test.sh            everything
#   ./test.sh --fast     formatting, lints and the workspace's tests only
set -euo pipefail
cd "$(dirname "$0")"

fast=false
[ "${1:-}" = "--fast" ] && fast=true

step() { printf '\n== %s\n' "$*"; }
skipped() { printf 'SKIPPED: %s\n' "$*" >&2; }

packages=(g++ make omniorb omniidl omniorb-idl omniorb-nameserver libomniorb4-dev tshark tcpdump valgrind strace)

install_packages() {
  command -v dpkg-query >/dev/null || { skipped "no dpkg here: tests against omniORB, tshark and valgrind skip themselves"; return; }
  missing=()
  for package in "${packages[@]}"; do
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

install_tool() { # command, crate
  command -v "$1" >/dev/null || cargo install --quiet --locked "$2"
}

step "Packages"
install_packages

step "Formatting and lints"
cargo fmt --all --check
cargo clippy --workspace --all-targets --quiet -- -D warnings

step "Tests"
cargo test --workspace --quiet

$fast && exit 0

step "Interleavings of threads (loom)"
RUSTFLAGS="--cfg loom" cargo test --quiet --release -p throughline-demux --test loom --target-dir target/loom

step "Instruction counts, of what users build"
cargo test --quiet --release -p throughline-lab --test dispatch
cargo test --quiet --release -p throughline-lab --test lookups hash_cost

step "Documentation"
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet

step "Licences and sources (cargo deny)"
install_tool cargo-deny cargo-deny
cargo deny --log-level error check bans licenses sources

step "Fuzz targets, a short run of each"
if rustup toolchain list 2>/dev/null | grep -q '^nightly'; then
  install_tool cargo-fuzz cargo-fuzz
  for target in $(cargo +nightly fuzz list); do
    cargo +nightly fuzz run "$target" -- -runs=20000 -max_total_time=10 -verbosity=0
  done
else
  skipped "fuzzing needs a nightly toolchain (rustup toolchain install nightly)"
fi

step "Undefined behaviour (Miri)"
if rustup toolchain list 2>/dev/null | grep -q '^nightly'; then
  rustup component add --toolchain nightly miri rust-src 2>/dev/null || true
fi
if cargo +nightly miri --version >/dev/null 2>&1; then
  MIRIFLAGS="-Zmiri-disable-isolation -Zmiri-permissive-provenance" cargo +nightly miri test --quiet -p throughline-demux \
    --lib --test arena -- exclusively tags_nonces a_nonce_alone
else
  skipped "Miri is not installed (rustup component add --toolchain nightly miri)"
fi

step "All passed"
