//! Where bindings survive: a file of the embedded database `redb`, or nowhere.

use std::fs;
use std::io::{self, ErrorKind, Read};
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
/// In [`META`]: the number of the last change, counted from anywhere by each process that opens the file.
const CHANGES: &str = "changes";
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
    /// The file was altered by something else while it was in use. It is left alone from then on.
    #[error(
        "the file was altered by something else while it was in use; start the name service anew to use it as it is"
    )]
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
    /// When that may be tried, if ever.
    again: Option<Instant>,
    /// The number of the last change that is known to be there. One that failed may be there as the next.
    last: u64,
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
        if self.database.is_none() && begun < self.again.ok_or(StoreError::Broken)? {
            return Err(StoreError::Failed);
        }
        // What the database finds damaged while it runs may be a panic, also when it ends.
        let written = catch_unwind(AssertUnwindSafe(|| self.write(changes)));
        written.unwrap_or(Err(StoreError::Broken)).inspect_err(|error| {
            let failed = self.database.take();
            let _ = catch_unwind(AssertUnwindSafe(|| drop(failed)));
            let rest = begun.elapsed().max(REST);
            self.again = (!matches!(error, StoreError::Broken)).then(|| Instant::now() + rest);
        })
    }

    fn write(&mut self, changes: &[Change<'_>]) -> Result<(), StoreError> {
        let transaction = self.database()?.begin_write()?;
        self.last = self.count(&transaction)?;
        changes.iter().try_for_each(|change| write(&transaction, change))?;
        transaction.commit()?;
        self.last = self.last.wrapping_add(1);
        Ok(())
    }

    /// Counts a change. Before the file was opened again another process may have used it, or changes may have been lost: what
    /// is there would not be what is in memory.
    fn count(&self, transaction: &WriteTransaction) -> Result<u64, StoreError> {
        let mut meta = transaction.open_table(META)?;
        let last = meta.get(CHANGES)?.map(|changes| changes.value());
        let known = last.filter(|last| last.wrapping_sub(self.last) <= 1);
        let last = known.ok_or(StoreError::Broken)?;
        meta.insert(CHANGES, last.wrapping_add(1))?;
        Ok(last)
    }
}

impl Store {
    /// Opens the file, or makes it.
    pub(crate) fn open(path: Option<&Path>) -> Result<Self, StoreError> {
        let Some(path) = path else { return Ok(Self::Memory) };
        // The process may change its folder before the file is opened again.
        let path = std::path::absolute(path)?;
        if fs::symlink_metadata(&path).is_err_and(|e| e.kind() == ErrorKind::NotFound) {
            make(&path)?;
        }
        clear_unfinished(&path, false)?;
        let last = random()?;
        let was_empty = fs::metadata(&path).map_or(true, |file| file.len() == 0);
        let made = made(&path, last).inspect_err(|_| {
            let _ = clear_unfinished(&path, was_empty);
        });
        let database = Some(made?);
        Ok(Self::File(Box::new(File { path, database, again: None, last })))
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

fn random() -> Result<u64, StoreError> {
    Ok(getrandom::u64().map_err(|e| io::Error::other(e.to_string()))?)
}

/// Makes a store under a name of its own first: what a process leaves that ends meanwhile is none, and would be refused for ever.
fn make(path: &Path) -> Result<(), StoreError> {
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(format!(".new-{:016x}", random()?));
    let unfinished = Path::new(&unfinished);
    // Not in the place of one that another process has made meanwhile, as far as the file system can tell.
    let named = made(unfinished, 0).map(drop).and_then(|()| match fs::hard_link(unfinished, path) {
        Err(e) if e.kind() != ErrorKind::AlreadyExists => Ok(fs::rename(unfinished, path)?),
        _ => Ok(()),
    });
    let _ = fs::remove_file(unfinished);
    named?;
    // The name should be on the disk before anything that is kept under it. Not all file systems can be told so.
    let _ = path.parent().map(|folder| fs::File::open(folder).and_then(|folder| folder.sync_all()));
    Ok(())
}

/// What a file of the database begins with, in octets, and where its header ends. It writes the former last when it makes a file.
const MARK: usize = 9;
const HEADER: usize = 320;
/// A file that was not finished is no longer than this.
const MADE: u64 = 2 << 20;

/// Empties a file that is a header without its mark: a process that made a store of an empty file, or through a link to none, has
/// ended meanwhile, and what it left would be refused for ever. Whoever makes one still has it locked. On a full disk there may be
/// nothing but zeros, which count as unfinished if the file `was_empty` a moment ago: names may have been in any other.
fn clear_unfinished(path: &Path, was_empty: bool) -> io::Result<()> {
    let small = |file: &fs::File| file.metadata().is_ok_and(|m| m.is_file() && m.len() <= MADE);
    // What is wrong with others is told when they are opened.
    let Ok(mut file) = fs::File::options().read(true).write(true).open(path) else { return Ok(()) };
    if !small(&file) || file.try_lock().is_err() {
        return Ok(());
    }
    let mut octets = Vec::new();
    file.read_to_end(&mut octets)?;
    let zeros = |octets: &[u8]| octets.iter().all(|octet| *octet == 0);
    match octets.split_at_checked(HEADER) {
        Some((header, rest)) if zeros(rest) && zeros(&header[..MARK]) && (was_empty || !zeros(header)) => {
            file.set_len(0)
        }
        _ => Ok(()),
    }
}

/// Opens the file, or makes it in its place. Its changes are counted from `last` on.
fn made(path: &Path, last: u64) -> Result<Database, StoreError> {
    let database = builder().create(path)?;
    let transaction = database.begin_write()?;
    prepare(&transaction)?;
    transaction.open_table(META)?.insert(CHANGES, last)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    /// As after a change that could not be written.
    fn fail(store: &mut Store) {
        let Store::File(file) = store else { unreachable!() };
        (file.database, file.again) = (None, Some(Instant::now()));
    }

    #[test]
    fn a_file_is_opened_again_also_from_another_folder() {
        let folder = std::env::temp_dir().join(format!("throughline-naming-moved-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        let before = std::env::current_dir().unwrap();
        std::env::set_current_dir(&folder).unwrap();
        let store = Store::open(Some(Path::new("names.redb")));
        std::env::set_current_dir(before).unwrap();
        let mut store = store.unwrap();
        fail(&mut store);
        store.record(&[Change::Create(1)]).unwrap();
        drop(store);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_file_that_another_process_has_used_meanwhile_is_left_alone() {
        let path =
            std::env::temp_dir().join(format!("throughline-naming-shared-{}.redb", std::process::id()));
        let mut first = Store::open(Some(&path)).unwrap();
        first.record(&[Change::Create(1)]).unwrap();
        fail(&mut first);
        first.record(&[Change::Create(2)]).unwrap();
        fail(&mut first);
        let mut second = Store::open(Some(&path)).unwrap();
        second.record(&[Change::Create(3)]).unwrap();
        drop(second);
        assert!(matches!(first.record(&[Change::Create(4)]), Err(StoreError::Broken)));
        let left = fs::read(&path).unwrap();
        std::thread::sleep(REST + Duration::from_millis(50));
        assert!(matches!(first.record(&[Change::Create(5)]), Err(StoreError::Broken)));
        assert!(fs::read(&path).unwrap() == left, "it is not left alone");
        drop(first);
        let mut contexts = Vec::new();
        let each = |change: Change<'_>| contexts.push(format!("{change:?}"));
        Store::open(Some(&path)).unwrap().load(each).unwrap();
        assert_eq!(contexts, ["Create(1)", "Create(2)", "Create(3)"]);
        fs::remove_file(&path).unwrap();
    }

    /// What is left where the process ends that makes a store: the database writes the first octets last.
    fn unfinished(path: &Path) -> Vec<u8> {
        drop(Store::open(Some(path)).unwrap());
        let mut octets = fs::read(path).unwrap();
        octets[..MARK].fill(0);
        octets[HEADER..].fill(0);
        octets.resize(1 << 20, 0);
        octets
    }

    #[test]
    fn what_is_left_of_a_store_that_was_not_finished_is_made_one_and_nothing_else_is() {
        let path = std::env::temp_dir().join(format!("throughline-naming-left-{}.redb", std::process::id()));
        let left = unfinished(&path);
        let mut used = left.clone();
        used[70_000] = 1;
        for other in [used, vec![0; left.len()], b"text".to_vec()] {
            fs::write(&path, &other).unwrap();
            Store::open(Some(&path)).unwrap_err();
            assert!(fs::read(&path).unwrap() == other);
        }
        fs::write(&path, &left).unwrap();
        let maker = fs::File::open(&path).unwrap();
        maker.lock().unwrap();
        Store::open(Some(&path)).unwrap_err();
        assert!(fs::read(&path).unwrap() == left, "it is being made still");
        drop(maker);
        Store::open(Some(&path)).unwrap().record(&[Change::Create(1)]).unwrap();
        let mut contexts = 0;
        Store::open(Some(&path)).unwrap().load(|_| contexts += 1).unwrap();
        assert_eq!(contexts, 1);
        fs::remove_file(&path).unwrap();
    }

    #[test]
    fn of_two_who_make_a_store_at_once_one_has_it_and_others_keep_theirs() {
        let path = std::env::temp_dir().join(format!("throughline-naming-twice-{}.redb", std::process::id()));
        // A file of somebody else's, perhaps another store.
        let beside = path.with_extension("redb.new");
        fs::write(&beside, "another").unwrap();
        for n in 0..30 {
            let opened = std::thread::scope(|s| {
                let both = [0, 1].map(|_| s.spawn(|| Store::open(Some(&path))));
                both.map(|one| one.join().unwrap())
            });
            assert!(opened.iter().any(Result::is_ok), "{n}: {opened:?}");
            drop(opened);
            fs::remove_file(&path).unwrap();
        }
        assert_eq!(fs::read(&beside).unwrap(), b"another");
        fs::remove_file(&beside).unwrap();
    }
}
