//! In place of iceoryx2 where this was built without it: its rows are left out.

use std::path::Path;

use crate::Failure;

pub fn serve(_: &[String]) -> Result<(), Failure> {
    Err("built without the feature iceoryx2".into())
}

pub fn call(arguments: &[String]) -> Result<(), Failure> {
    serve(arguments)
}

/// What iceoryx2 leaves behind is elsewhere.
pub fn clean(folder: &Path) -> Result<(), Failure> {
    if folder.is_dir() {
        std::fs::remove_dir_all(folder)?;
    }
    Ok(())
}
