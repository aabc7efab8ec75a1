//! Where bindings survive: a file of the embedded database `redb`, or nowhere.

use std::fs;
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use redb::{Builder, Database, ReadableDatabase, ReadableTable, TableDefinition, WriteTransaction};
use throughline::Ior;

use crate::label::Label;
use crate::tree::{Change, ContextId, Target};

const CONTEXTS: TableDefinition<'_, u64, ()> = TableDefinition::new("contexts");
/// By context, identifier and kind: the type of the binding, and an IOR as text or a context's number.
const BINDINGS: TableDefinition<'_, (u64, &str, &str), (u8, &str)> = TableDefinition::new("bindings");
const META: TableDefinition<'_, &str, u64> = TableDefinition::new("meta");
/// The layout of the tables above.
const FORMAT: u64 = 1;

const OBJECT: u8 = 0;
const FOREIGN: u8 = 1;
const OWN: u8 = 2;

/// Why bindings cannot be read or kept.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database refused.
    #[error("{0}")]
    Database(Box<redb::Error>),
    /// The file is of a later version of this program.
    #[error("the file has format {0}, this program knows format {FORMAT} only")]
    Format(u64),
    /// A change failed a moment ago, on a full disk perhaps.
    #[error("the store failed a moment ago and has not been opened again yet")]
    Failed,
    /// The file was altered by something else while it was in use.
    #[error("the file was damaged while it was in use")]
    Broken,
    /// A binding that cannot be read.
    #[error("the binding of `{id}` (kind `{kind}`) is damaged")]
    Damaged {
        /// The name's identifier.
        id: String,
        /// The name's kind.
        kind: String,
    },
}

impl<E: Into<redb::Error>> From<E> for StoreError {
    fn from(error: E) -> Self {
        Self::Database(Box::new(error.into()))
    }
}

/// Where changes are recorded before they are made.
#[derive(Debug)]
pub(crate) enum Store {
    /// Nothing survives.
    Memory,
    File(Box<File>),
}

#[derive(Debug)]
pub(crate) struct File {
    path: PathBuf,
    /// None after it failed, until it can be opened again.
    database: Option<Database>,
    /// When that may be tried.
    again: Instant,
}

/// How long a store that failed is left alone, at least. Opening a large one takes long, and everybody who wants to change
/// something waits for that.
const REST: Duration = Duration::from_secs(1);

/// What the database may keep of the file in memory, where all of it is anyway, in octets.
const CACHE: usize = 8 << 20;

/// All of a file is read anyway when it is opened; what has been altered elsewhere would be taken for names, or be a panic.
fn builder() -> Builder {
    let mut builder = Database::builder();
    builder.set_check_integrity_on_open(true).set_cache_size(CACHE);
    builder
}

impl File {
    fn database(&mut self) -> Result<&Database, StoreError> {
        match &mut self.database {
            Some(database) => Ok(database),
            // Not made anew: what is there is expected to be the rest.
            closed => Ok(closed.insert(builder().open(&self.path)?)),
        }
    }

    /// A database that could not write once refuses all until it is opened again, even if the disk has room meanwhile.
    fn record(&mut self, changes: &[Change<'_>]) -> Result<(), StoreError> {
        let begun = Instant::now();
        if self.database.is_none() && begun < self.again {
            return Err(StoreError::Failed);
        }
        // What the database finds damaged while it runs may be a panic, also when it ends.
        let written = catch_unwind(AssertUnwindSafe(|| self.write(changes)));
        written.unwrap_or(Err(StoreError::Broken)).inspect_err(|_| {
            let failed = self.database.take();
            let _ = catch_unwind(AssertUnwindSafe(|| drop(failed)));
            self.again = Instant::now() + begun.elapsed().max(REST);
        })
    }

    fn write(&mut self, changes: &[Change<'_>]) -> Result<(), StoreError> {
        let transaction = self.database()?.begin_write()?;
        changes.iter().try_for_each(|change| write(&transaction, change))?;
        Ok(transaction.commit()?)
    }
}

impl Store {
    /// Opens the file, or makes it.
    pub(crate) fn open(path: Option<&Path>) -> Result<Self, StoreError> {
        let Some(path) = path else { return Ok(Self::Memory) };
        if fs::symlink_metadata(path).is_err_and(|e| e.kind() == ErrorKind::NotFound) {
            make(path)?;
        }
        let database = made(path)?;
        let file = File { path: path.to_owned(), database: Some(database), again: Instant::now() };
        Ok(Self::File(Box::new(file)))
    }

    /// Hands over everything that is there.
    pub(crate) fn load(&mut self, mut each: impl FnMut(Change<'_>)) -> Result<(), StoreError> {
        let Self::File(file) = self else { return Ok(()) };
        let transaction = file.database()?.begin_read()?;
        for entry in transaction.open_table(CONTEXTS)?.iter()? {
            each(Change::Create(entry?.0.value()));
        }
        for entry in transaction.open_table(BINDINGS)?.iter()? {
            let (key, value) = entry?;
            let ((context, id, kind), (tag, text)) = (key.value(), value.value());
            let label = Label { id: id.to_owned(), kind: kind.to_owned() };
            let damaged = || StoreError::Damaged { id: id.to_owned(), kind: kind.to_owned() };
            let target = read_target(tag, text).ok_or_else(damaged)?;
            each(Change::Bind(context, &label, &target));
        }
        Ok(())
    }

    /// Makes changes together, and returns when they are on the disk. After an error they may be there or not.
    pub(crate) fn record(&mut self, changes: &[Change<'_>]) -> Result<(), StoreError> {
        let Self::File(file) = self else { return Ok(()) };
        file.record(changes)
    }
}

/// Makes a store under another name first: what a process leaves that ends meanwhile is none, and would be refused for ever.
fn make(path: &Path) -> Result<(), StoreError> {
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(".new");
    match fs::remove_file(&unfinished) {
        Err(e) if e.kind() != ErrorKind::NotFound => return Err(e.into()),
        _ => {}
    }
    drop(made(Path::new(&unfinished))?);
    // Not in the place of one that another process has made meanwhile, as far as the file system can tell.
    match fs::hard_link(&unfinished, path) {
        Err(e) if e.kind() != ErrorKind::AlreadyExists => fs::rename(&unfinished, path)?,
        _ => fs::remove_file(&unfinished)?,
    }
    // The name should be on the disk before anything that is kept under it. Not all file systems can be told so.
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let _ = fs::File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}

/// Opens the file, or makes it in its place.
fn made(path: &Path) -> Result<Database, StoreError> {
    let database = builder().create(path)?;
    let transaction = database.begin_write()?;
    prepare(&transaction)?;
    transaction.commit()?;
    Ok(database)
}

fn prepare(transaction: &WriteTransaction) -> Result<(), StoreError> {
    let mut meta = transaction.open_table(META)?;
    let format = meta.get("format")?.map(|format| format.value());
    match format {
        Some(FORMAT) => return Ok(()),
        Some(other) => return Err(StoreError::Format(other)),
        None => meta.insert("format", FORMAT)?,
    };
    transaction.open_table(CONTEXTS)?;
    transaction.open_table(BINDINGS)?;
    Ok(())
}

fn write(transaction: &WriteTransaction, change: &Change<'_>) -> Result<(), StoreError> {
    match change {
        Change::Create(context) => {
            transaction.open_table(CONTEXTS)?.insert(context, ())?;
        }
        Change::Destroy(context) => {
            transaction.open_table(CONTEXTS)?.remove(context)?;
        }
        Change::Bind(context, label, target) => {
            let (tag, text) = match target {
                Target::Object(ior) => (OBJECT, ior.to_string()),
                Target::Foreign(ior) => (FOREIGN, ior.to_string()),
                Target::Own(id) => (OWN, key_text(*id)),
            };
            let key = (*context, label.id.as_str(), label.kind.as_str());
            transaction.open_table(BINDINGS)?.insert(key, (tag, text.as_str()))?;
        }
        Change::Unbind(context, label) => {
            let key = (*context, label.id.as_str(), label.kind.as_str());
            transaction.open_table(BINDINGS)?.remove(key)?;
        }
    }
    Ok(())
}

fn read_target(tag: u8, text: &str) -> Option<Target> {
    match tag {
        OBJECT => text.parse::<Ior>().ok().map(Target::Object),
        FOREIGN => text.parse::<Ior>().ok().map(Target::Foreign),
        OWN => parse_key_text(text).map(Target::Own),
        _ => None,
    }
}

/// A context's number as it stands in object keys.
pub(crate) fn key_text(context: ContextId) -> String {
    format!("{context:016x}")
}

/// Undoes [`key_text`]; none for anything that it does not make.
pub(crate) fn parse_key_text(text: &str) -> Option<ContextId> {
    let id = ContextId::from_str_radix(text, 16).ok()?;
    (key_text(id) == text).then_some(id)
}
