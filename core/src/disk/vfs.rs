//! The one place with `unsafe`: SQLite's file-system interface, registered and taken back.
//!
//! The interface itself is the crate `rsqlite-vfs`, which turns SQLite's C callbacks into the traits
//! below. What stays unsafe is telling SQLite of it, and taking it back in time.
#![allow(unsafe_code)]

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use rsqlite_vfs::{
    AccessMode, FileKind, LockLevel, OpenOptions, OpenRequest, OpenedFile, OsCallback,
    SQLiteIoMethods, SQLiteVfs, SyncOptions, VfsError, VfsErrorCode, VfsFile, VfsRegistration,
    VfsResult, VfsStore,
};

use super::{ConnectionId, Pages, Platter};

/// Milliseconds from the Unix epoch to 2026-01-05 09:00:00 UTC, where the clock stands still.
const NOW_MS: i64 = 1_767_603_600_000;

/// A file larger than this is refused as a full disk would: nothing the laboratory runs comes near it.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// What SQLite's callbacks reach: the platter, and an operating system that does nothing by chance.
pub(super) struct Machine {
    platter: Rc<RefCell<Platter>>,
    os: StandstillOs,
}

/// A file system known to SQLite under a name, until this is dropped.
pub(super) struct Registration {
    name: String,
    held: Option<VfsRegistration<Machine>>,
}

impl Registration {
    pub(super) fn new(name: String, platter: Rc<RefCell<Platter>>) -> Self {
        let machine = Machine {
            platter,
            os: StandstillOs,
        };
        // SAFETY: `Files` and `Methods` use the crate's own layout and callbacks throughout. A disk and
        // its connections are neither `Send` nor `Sync`, so every callback runs on the thread that
        // registered; SQLite guards its list of file systems itself where it has threads at all.
        let held = unsafe { rsqlite_vfs::register_vfs::<Methods, Files>(&name, machine, false) }
            .expect("the name is new, and SQLite refuses a file system only when memory is gone");
        Registration {
            name,
            held: Some(held),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        let Some(held) = self.held.take() else { return };
        // SAFETY: every connection holds a clone of its disk and closes first, so no file is open here.
        // If SQLite will not let go, the registration is kept for good rather than freed under it.
        if let Err((held, _)) = unsafe { held.unregister() } {
            held.into_raw();
        }
    }
}

/// The operating system of the disk: no sleep, no chance, and a clock that stands still.
pub(super) struct StandstillOs;

impl OsCallback for StandstillOs {
    fn sleep(&self, _: Duration) {}

    fn random(&self, buffer: &mut [u8]) -> usize {
        buffer.fill(42);
        buffer.len()
    }

    fn epoch_timestamp_in_ms(&self) -> VfsResult<i64> {
        Ok(NOW_MS)
    }
}

/// An open file, and the connection that opened it.
pub(super) struct OpenFile {
    platter: Rc<RefCell<Platter>>,
    bytes: Rc<RefCell<Pages>>,
    connection: ConnectionId,
}

impl OpenFile {
    fn alive(&self, code: VfsErrorCode) -> VfsResult<()> {
        refuse_the_dead(&self.platter, code)
    }
}

/// An error while a process is dying: its last reads and writes reach nothing.
fn refuse_the_dead(platter: &RefCell<Platter>, code: VfsErrorCode) -> VfsResult<()> {
    if platter.borrow().dying {
        return Err(VfsError::new(code, "the process is dead".into()));
    }
    Ok(())
}

fn in_memory(bytes: u64, more: usize) -> VfsResult<usize> {
    match bytes.checked_add(more as u64) {
        Some(end) if end <= FILE_BYTES_MAX => Ok(bytes as usize),
        _ => Err(VfsError::new(VfsErrorCode::Full, "the disk is full".into())),
    }
}

impl VfsFile for OpenFile {
    fn read(&mut self, buffer: &mut [u8], offset: u64) -> VfsResult<usize> {
        self.alive(VfsErrorCode::IoRead)?;
        Ok(self.bytes.borrow().read(buffer, in_memory(offset, 0)?))
    }

    fn write(&mut self, bytes: &[u8], offset: u64) -> VfsResult<()> {
        self.alive(VfsErrorCode::IoWrite)?;
        self.bytes
            .borrow_mut()
            .write(bytes, in_memory(offset, bytes.len())?);
        Ok(())
    }

    fn truncate(&mut self, size: u64) -> VfsResult<()> {
        self.alive(VfsErrorCode::IoTruncate)?;
        self.bytes.borrow_mut().truncate(in_memory(size, 0)?);
        Ok(())
    }

    fn sync(&mut self, _: SyncOptions) -> VfsResult<()> {
        self.alive(VfsErrorCode::IoSync)
    }

    fn size(&self) -> VfsResult<u64> {
        self.alive(VfsErrorCode::IoStat)?;
        Ok(self.bytes.borrow().len() as u64)
    }

    fn lock(&mut self, level: LockLevel) -> VfsResult<()> {
        if self.connection == ConnectionId::OBSERVER {
            return Ok(());
        }
        self.alive(VfsErrorCode::IoLock)?;
        let raised = self
            .platter
            .borrow_mut()
            .locks
            .raise(self.connection, level);
        raised.map_err(|()| VfsError::new(VfsErrorCode::Busy, "another connection's lock".into()))
    }

    fn unlock(&mut self, level: LockLevel) -> VfsResult<()> {
        let mut platter = self.platter.borrow_mut();
        if self.connection != ConnectionId::OBSERVER && !platter.dying {
            platter.locks.lower(self.connection, level);
        }
        Ok(())
    }

    fn check_reserved_lock(&self) -> VfsResult<bool> {
        // The observer must leave a crashed process' journal to the workers: to it, someone always writes.
        Ok(self.connection == ConnectionId::OBSERVER || self.platter.borrow().locks.is_reserved())
    }
}

/// How SQLite names, opens and deletes files on the disk.
pub(super) struct Store;

impl VfsStore for Store {
    type File = OpenFile;
    type AppData = Machine;

    fn open_file(machine: &Machine, request: OpenRequest<'_>) -> VfsResult<OpenedFile<OpenFile>> {
        refuse_the_dead(&machine.platter, VfsErrorCode::CantOpen)?;
        let connection = request
            .filename
            .map_or(0, |name| name.integer(c"connection", 0));
        let bytes = match request.filename {
            None => Rc::default(),
            Some(name) => open_named(&machine.platter, name.path(), request.options)?,
        };
        let file = OpenFile {
            platter: Rc::clone(&machine.platter),
            bytes,
            connection: ConnectionId(u8::try_from(connection).unwrap_or(0)),
        };
        Ok(OpenedFile {
            file,
            access: request.options.access(),
        })
    }

    fn close_file(
        machine: &Machine,
        name: Option<&str>,
        file: OpenFile,
        options: OpenOptions,
    ) -> VfsResult<()> {
        let mut platter = machine.platter.borrow_mut();
        if options.kind() == Some(FileKind::MainDb) && !platter.dying {
            platter.locks.release_all(file.connection);
        }
        if let Some(name) = name
            && options.delete_on_close()
        {
            platter.files.remove(name);
        }
        Ok(())
    }

    fn access(machine: &Machine, name: &str, _: AccessMode) -> VfsResult<bool> {
        Ok(machine.platter.borrow().files.contains_key(name))
    }

    fn full_pathname(_: &Machine, name: &str) -> VfsResult<String> {
        Ok(name.to_owned())
    }

    fn delete_file(machine: &Machine, name: &str, _: bool) -> VfsResult<()> {
        refuse_the_dead(&machine.platter, VfsErrorCode::IoDelete)?;
        match machine.platter.borrow_mut().files.remove(name) {
            Some(_) => Ok(()),
            None => Err(VfsError::new(
                VfsErrorCode::IoDeleteNoEntry,
                "no such file".into(),
            )),
        }
    }
}

fn open_named(
    platter: &RefCell<Platter>,
    name: &str,
    options: OpenOptions,
) -> VfsResult<Rc<RefCell<Pages>>> {
    let mut platter = platter.borrow_mut();
    match platter.files.get(name) {
        Some(_) if options.exclusive() => Err(VfsError::new(
            VfsErrorCode::CantOpen,
            "the file exists already".into(),
        )),
        Some(file) => Ok(Rc::clone(file)),
        None if options.create() => {
            Ok(Rc::clone(platter.files.entry(name.to_owned()).or_default()))
        }
        None => Err(VfsError::new(VfsErrorCode::CantOpen, "no such file".into())),
    }
}

struct Methods;

impl SQLiteIoMethods for Methods {
    type Store = Store;
}

struct Files;

impl SQLiteVfs<Methods> for Files {
    type Os = StandstillOs;

    fn os(machine: &Machine) -> &StandstillOs {
        &machine.os
    }
}
