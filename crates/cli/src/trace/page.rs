//! Where the page goes: opened before the capture is read, so that a place that cannot be written to is told at once, and
//! as it was until there is a page.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::fstat;

use crate::failure::{Failure, Result};

/// A file that a page will be written to.
pub struct Page {
    path: PathBuf,
    file: File,
    /// Whether it is ours to remove: it was not there before, and has no page yet.
    made: bool,
}

impl Page {
    /// Opens it, for the report of this capture.
    pub fn open(path: &Path, capture: &Path) -> Result<Self> {
        if path == Path::new("-") {
            let next = "name a file; ./- for one of this name";
            return Err(Failure::usage("the page cannot go to standard output").next(next));
        }
        if is_same(path, capture) {
            let what = format!("the page would overwrite the capture {}", path.display());
            return Err(Failure::usage(what).next("choose another file for the page"));
        }
        let mut open = OpenOptions::new();
        open.write(true);
        let (file, made) = match open.clone().create_new(true).open(path) {
            Ok(file) => (file, true),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
                (open.open(path).map_err(|e| cannot_write(path, &e))?, false)
            }
            Err(e) => return Err(cannot_write(path, &e)),
        };
        Ok(Self { path: path.to_owned(), file, made })
    }

    /// Writes the page.
    pub fn write(mut self, page: &str) -> Result {
        let written = self.replace(page).map_err(|e| cannot_write(&self.path, &e));
        self.made &= written.is_err();
        written
    }

    fn replace(&mut self, page: &str) -> io::Result<()> {
        // A pipe or a terminal has no length.
        if self.file.metadata()?.is_file() {
            self.file.set_len(0)?;
        }
        self.file.write_all(page.as_bytes())
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        if self.made {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    Failure::new(format!("cannot write {}", path.display())).because(error).next("choose another place")
}

/// Whether the page's name is that of the capture, or another name of the same file.
fn is_same(page: &Path, capture: &Path) -> bool {
    let Ok(page_is) = fs::metadata(page) else { return page == capture };
    // Devices keep nothing that could be lost.
    if !page_is.is_file() {
        return false;
    }
    let page_is = (page_is.dev(), page_is.ino());
    if capture == Path::new("-") {
        return fstat(io::stdin()).is_ok_and(|stdin| (stdin.st_dev, stdin.st_ino) == page_is);
    }
    fs::metadata(capture).is_ok_and(|capture| (capture.dev(), capture.ino()) == page_is)
}
