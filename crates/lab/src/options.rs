//! What a user can choose for every experiment.

use std::path::PathBuf;

use crate::Experiment;

/// Options that all experiments share; of those that change nothing in one it is said so.
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
    /// Draw figures too, as SVG files in this folder, where an experiment has some
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

impl Options {
    /// The options given that change nothing in an experiment.
    pub(crate) fn idle(&self, experiment: &dyn Experiment) -> Vec<&'static str> {
        self.given().into_iter().filter(|option| !experiment.uses().contains(option)).collect()
    }

    /// Of those that not all experiments use. A seed is given if it is another than without.
    fn given(&self) -> Vec<&'static str> {
        let given = [
            ("--instructions", self.instructions),
            ("--syscalls", self.syscalls),
            ("--seed", self.seed != Self::default().seed),
            ("--interop", self.interop.is_some()),
            ("--plots", self.plots.is_some()),
            ("--capture", self.capture.is_some()),
        ];
        given.into_iter().filter(|(_, given)| *given).map(|(option, _)| option).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_change_nothing_are_found() {
        let folder = Some(PathBuf::from("figures"));
        let options = Options { plots: folder.clone(), interop: folder, seed: 2, ..Options::default() };
        let idle = |options: &Options, name| options.idle(crate::find(name).expect("an experiment"));
        assert_eq!(idle(&options, "pcb"), ["--interop"]);
        assert_eq!(idle(&options, "connect"), ["--interop", "--plots"]);
        assert!(idle(&Options::default(), "hash-cost").is_empty());
    }

    #[test]
    fn what_experiments_use_are_options() {
        let file = PathBuf::from("file");
        let all = Options {
            instructions: true,
            syscalls: true,
            seed: 2,
            interop: Some(file.clone()),
            plots: Some(file.clone()),
            capture: Some(file),
            ..Options::default()
        };
        for experiment in crate::registry() {
            assert!(
                experiment.uses().iter().all(|option| all.given().contains(option)),
                "{}",
                experiment.name()
            );
        }
    }
}
