//! What a user can choose for every experiment.

use std::path::PathBuf;

/// Options that all experiments share; those that do not apply to one are ignored by it.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// Fewer parameters and shorter runs: seconds instead of minutes
    #[arg(long)]
    pub quick: bool,
    /// One JSON object per row instead of tables
    #[arg(long)]
    pub json: bool,
    /// Count instructions and cache lines too (needs valgrind)
    #[arg(long)]
    pub instructions: bool,
    /// Count system calls too (needs strace)
    #[arg(long)]
    pub syscalls: bool,
    /// Seed of everything drawn at random; the same seed gives the same counts
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
    /// The folder `interop` of a source checkout, where the foreign peers are built from
    #[arg(long, value_name = "DIR")]
    pub interop: Option<PathBuf>,
    /// Draw figures too, as SVG files in this folder
    #[arg(long, value_name = "DIR")]
    pub plots: Option<PathBuf>,
    /// Real traffic too, from this file (pcap or pcapng), where an experiment can use it: filter
    #[arg(long, value_name = "FILE")]
    pub capture: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            quick: false,
            json: false,
            instructions: false,
            syscalls: false,
            seed: 1,
            interop: None,
            plots: None,
            capture: None,
        }
    }
}
