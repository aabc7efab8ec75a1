//! Compiles the tables of other projects that this machine has.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=src/absl.cc");
    println!("cargo::rerun-if-changed=src/dpdk.c");
    println!("cargo::rustc-check-cfg=cfg(absl, dpdk)");
    match flags(&["--cflags", "--libs"], "absl_flat_hash_map") {
        Some(flags) => {
            let mut build = cc::Build::new();
            build
                .force_frame_pointer(false)
                .cpp(true)
                .std("c++17")
                .opt_level(3)
                .define("NDEBUG", None)
                .flag("-msse4.2")
                .file("src/absl.cc");
            build.compile("flow_absl");
            link(&flags);
            println!("cargo::rustc-cfg=absl");
        }
        None => println!("cargo::warning=no absl::flat_hash_map: install libabsl-dev (Debian) for its row"),
    }
    match flags(&["--cflags", "--libs"], "libdpdk") {
        Some(flags) => {
            let mut build = cc::Build::new();
            build.force_frame_pointer(false).opt_level(3).warnings(false).file("src/dpdk.c");
            for flag in flags.iter().filter(|flag| !flag.starts_with("-l") && !flag.starts_with("-L")) {
                build.flag(flag);
            }
            build.compile("flow_dpdk");
            // All of DPDK is in the flags; these two are what a hash table needs.
            let directories = flags.into_iter().filter(|flag| flag.starts_with("-L"));
            link(&directories.chain(["-lrte_hash", "-lrte_eal"].map(str::to_owned)).collect::<Vec<_>>());
            println!("cargo::rustc-cfg=dpdk");
        }
        None => println!("cargo::warning=no rte_hash: install libdpdk-dev (Debian) for its row"),
    }
}

/// What pkg-config says of a package, if it knows it.
fn flags(ask: &[&str], package: &str) -> Option<Vec<String>> {
    let output = Command::new("pkg-config").args(ask).arg(package).output().ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).split_whitespace().map(str::to_owned).collect())
}

fn link(flags: &[String]) {
    for flag in flags {
        if let Some(library) = flag.strip_prefix("-l") {
            println!("cargo::rustc-link-lib={library}");
        } else if let Some(directory) = flag.strip_prefix("-L") {
            println!("cargo::rustc-link-search={directory}");
        }
    }
}
