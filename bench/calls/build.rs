//! Builds omniORB's programs where this machine has what they need.

use std::{env, path::PathBuf, process::Command};

fn main() {
    println!("cargo::rerun-if-changed=../../interop/omniorb");
    println!("cargo::rerun-if-changed=../../crates/lab/idl/bench.idl");
    println!("cargo::rerun-if-changed=../../interop/Makefile");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo says where")).join("omniorb");
    let made = Command::new("make")
        .args(["-C", "../../interop", "bench"])
        .arg(format!("OUT={}", out.display()))
        .output()
        .is_ok_and(|output| output.status.success());
    if made {
        println!("cargo::rustc-env=OMNIORB_PEERS={}", out.display());
    } else {
        println!(
            "cargo::warning=no omniORB: install omniidl, libomniorb4-dev, g++ and make (Debian) for its rows"
        );
    }
}
