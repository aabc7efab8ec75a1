//! Source files: reading them, and turning byte offsets into lines and columns.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::model::{FileId, Origin};

/// Most bytes of one file.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// Bytes `start..end` of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Span {
    pub file: FileId,
    pub start: u32,
    pub end: u32,
}

impl Span {
    /// From the start of one to the end of the other; the first alone if they lie in different files.
    pub fn to(self, other: Span) -> Span {
        if self.file == other.file && other.end >= self.start {
            Span { end: other.end, ..self }
        } else {
            self
        }
    }

    /// The empty place directly behind.
    pub fn after(self) -> Span {
        Span { start: self.end, ..self }
    }
}

/// Where files come from: the disk, or memory in tests and editors.
pub trait Files {
    /// The bytes of a file; [`io::ErrorKind::NotFound`] if there is none.
    ///
    /// # Errors
    /// Whatever keeps the file from being read.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;
}

/// Files on disk.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

impl Files for Disk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        File::open(path)?.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

/// Files in memory, by path.
#[derive(Clone, Debug, Default)]
pub struct Memory(BTreeMap<PathBuf, Vec<u8>>);

impl Memory {
    /// Adds a file, or replaces it.
    pub fn insert(&mut self, path: impl Into<PathBuf>, text: impl Into<Vec<u8>>) -> &mut Self {
        self.0.insert(path.into(), text.into());
        self
    }
}

impl Files for Memory {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.0.get(path).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

/// One file that was read.
pub(crate) struct SourceFile {
    pub path: PathBuf,
    pub text: std::rc::Rc<str>,
    pub included_from: Option<Span>,
    line_starts: Vec<u32>,
    /// `#line` directives: from this physical line (0-based) on, count from that line under that name.
    presumed: Vec<(u32, u32, Option<String>)>,
    /// The place whose column was asked for last, and its column: the next is mostly behind it, perhaps in the same long line.
    last: Cell<(u32, u32)>,
}

/// All files of a run.
#[derive(Default)]
pub(crate) struct SourceMap {
    files: Vec<SourceFile>,
}

impl SourceMap {
    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.index()]
    }

    pub fn files(&self) -> &[SourceFile] {
        &self.files
    }

    /// The id of a file that has been read before.
    pub fn find(&self, path: &Path) -> Option<FileId> {
        self.files.iter().position(|it| it.path == path).map(|index| FileId(index as u32))
    }

    /// Takes in a file; its bytes are UTF-8, or else ISO 8859-1.
    ///
    /// # Errors
    /// A file too large to be meant.
    pub fn add(&mut self, path: &Path, bytes: Vec<u8>, included_from: Option<Span>) -> io::Result<FileId> {
        if bytes.len() as u64 > MAX_FILE_BYTES {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "larger than 16 MiB"));
        }
        let text = String::from_utf8(bytes)
            .unwrap_or_else(|error| error.into_bytes().into_iter().map(char::from).collect());
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let after_newlines = text.match_indices('\n').map(|(at, _)| at as u32 + 1);
        let line_starts = std::iter::once(0).chain(after_newlines).collect();
        let id = FileId(self.files.len() as u32);
        self.files.push(SourceFile {
            path: path.to_owned(),
            text: text.into(),
            included_from,
            line_starts,
            presumed: Vec::new(),
            last: Cell::new((0, 1)),
        });
        Ok(id)
    }

    /// Notes a `#line` directive: the line after the one at `span` counts as `line` of `name`.
    pub fn presume(&mut self, span: Span, line: u32, name: Option<String>) {
        let file = &mut self.files[span.file.index()];
        let next = file.physical_line(span.start) as u32 + 1;
        let name = name.or_else(|| file.presumed.last().and_then(|last| last.2.clone()));
        if file.presumed.last().is_none_or(|last| last.0 < next) {
            file.presumed.push((next, line, name));
        }
    }

    /// File name (`#line` respected) and line from 1.
    pub fn presumed(&self, span: Span) -> (String, u32) {
        let file = self.file(span.file);
        let line = file.physical_line(span.start) as u32;
        match file.presumed.iter().rev().find(|entry| entry.0 <= line) {
            Some((from, presumed, name)) => {
                (name.clone().unwrap_or_else(|| file.name()), presumed.saturating_add(line - from))
            }
            None => (file.name(), line + 1),
        }
    }

    /// Line in the file itself, whatever `#line` says, and column; both from 1.
    pub fn origin(&self, span: Span) -> Origin {
        let file = self.file(span.file);
        let line = file.physical_line(span.start);
        let line_start = file.line_starts[line];
        let (from, before) = match file.last.get() {
            last if (line_start..=span.start).contains(&last.0) => last,
            _ => (line_start, 1),
        };
        let column = before + file.text[from as usize..span.start as usize].chars().count() as u32;
        file.last.set((span.start, column));
        Origin { file: span.file, line: line as u32 + 1, column }
    }

    /// The source between two offsets.
    pub fn text(&self, span: Span) -> &str {
        &self.file(span.file).text[span.start as usize..span.end as usize]
    }

    /// A key that orders places as the reader of the whole translation unit meets them.
    pub fn reading_order(&self, span: Span) -> Vec<u32> {
        let mut key = vec![span.start];
        let mut place = self.file(span.file).included_from;
        while let Some(span) = place {
            key.push(span.start);
            place = self.file(span.file).included_from;
        }
        key.reverse();
        key
    }
}

impl SourceFile {
    pub fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// Line from 0.
    pub fn physical_line(&self, offset: u32) -> usize {
        self.line_starts.partition_point(|start| *start <= offset) - 1
    }

    /// The bytes of a line from 0, without its end.
    pub fn line_range(&self, line: usize) -> std::ops::Range<usize> {
        let start = self.line_starts[line] as usize;
        let end = self.line_starts.get(line + 1).map_or(self.text.len(), |next| *next as usize - 1);
        start..end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_in_any_order() {
        let mut sources = SourceMap::default();
        let text = "ab \u{4e00}\u{4e01} cd\n\n  ef\u{e4} gh";
        let file = sources.add(Path::new("a.idl"), text.into(), None).unwrap();
        let places: Vec<u32> = text.char_indices().map(|(at, _)| at as u32).collect();
        let shuffled = (0..500).map(|n| places[n * 7919 % 101 % places.len()]);
        for start in places.iter().copied().chain(shuffled) {
            let before = &text[..start as usize];
            let column = before.rsplit('\n').next().unwrap().chars().count() as u32 + 1;
            let line = before.matches('\n').count() as u32 + 1;
            assert_eq!(sources.origin(Span { file, start, end: start }), Origin { file, line, column });
        }
    }
}
