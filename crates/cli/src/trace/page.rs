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
    /// None if it was not there before: it is made when there is a page.
    file: Option<File>,
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
        let file = match open.clone().create_new(true).open(path) {
            // Not kept, since we may be ended at any time.
            Ok(_) => fs::remove_file(path).map(|()| None),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
                match (open.open(path), fs::read_link(path)) {
                    // What a link leads to is made there.
                    (Err(e), Ok(link)) if e.kind() == io::ErrorKind::NotFound => {
                        let place = path.parent().map_or_else(|| link.clone(), |folder| folder.join(&link));
                        return Self::open(&place, capture);
                    }
                    (opened, _) => opened.map(Some),
                }
            }
            Err(e) => Err(e),
        };
        Ok(Self { path: path.to_owned(), file: file.map_err(|e| cannot_write(path, &e))? })
    }

    /// Writes the page.
    pub fn write(self, page: &str) -> Result {
        let written = match self.file {
            Some(file) => replace(file, page),
            None => make(&self.path, page),
        };
        written.map_err(|e| cannot_write(&self.path, &e))
    }
}

fn replace(mut file: File, page: &str) -> io::Result<()> {
    // A pipe or a terminal has no length.
    if file.metadata()?.is_file() {
        file.set_len(0)?;
    }
    file.write_all(page.as_bytes())
}

/// Part of a page is none.
fn make(path: &Path, page: &str) -> io::Result<()> {
    let written = File::create(path)?.write_all(page.as_bytes());
    if written.is_err() {
        let _ = fs::remove_file(path);
    }
    written
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
