//! One module per experiment.

pub(crate) mod dispatch;

use crate::Experiment;

/// All of them, in the order of the list.
pub(crate) const ALL: &[&dyn Experiment] = &[&dispatch::Dispatch];
