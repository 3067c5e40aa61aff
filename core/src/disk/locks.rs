//! Who holds which of SQLite's five locks on the database file, who may have one, and what happened.

use std::collections::BTreeMap;

use super::{ConnectionId, LockLevel};

/// One thing that happened to the lock on the database file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockEvent {
    /// Whose lock.
    pub connection: ConnectionId,
    /// What happened to it.
    pub change: LockChange,
}

/// How a connection's lock changed, or failed to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LockChange {
    /// The connection now holds this level.
    Taken(LockLevel),
    /// The connection asked for `wanted` and `holders` stood in the way: SQLite answers BUSY.
    Refused {
        /// The level asked for.
        wanted: LockLevel,
        /// Who held what excludes it, in the order of their ids.
        holders: Vec<ConnectionId>,
    },
    /// The connection went down to a lower level.
    Released {
        /// The level it still holds.
        to: LockLevel,
    },
}

/// The lock table of one file.
///
/// # Source
/// <https://www.sqlite.org/lockingv3.html>, section 3, and `unixLock` in SQLite's `os_unix.c` for the
/// order in which one process' connections are checked.
#[derive(Debug, Default)]
pub(super) struct LockTable {
    held: BTreeMap<ConnectionId, LockLevel>,
    recording: Vec<LockEvent>,
}

impl LockTable {
    pub(super) fn level(&self, id: ConnectionId) -> LockLevel {
        self.held.get(&id).copied().unwrap_or(LockLevel::None)
    }

    pub(super) fn is_free(&self) -> bool {
        self.held.is_empty()
    }

    /// Whether anyone holds RESERVED or more: what SQLite asks before it calls a journal hot.
    pub(super) fn is_reserved(&self) -> bool {
        self.held
            .values()
            .any(|level| *level >= LockLevel::Reserved)
    }

    /// The other connections whose locks exclude `wanted`.
    pub(super) fn obstacles(&self, id: ConnectionId, wanted: LockLevel) -> Vec<ConnectionId> {
        let excludes = |level: LockLevel| match wanted {
            LockLevel::None => false,
            LockLevel::Shared => level >= LockLevel::Pending,
            LockLevel::Reserved | LockLevel::Pending => level >= LockLevel::Reserved,
            LockLevel::Exclusive => level >= LockLevel::Shared,
        };
        self.others(id)
            .filter(|(_, level)| excludes(*level))
            .map(|(other, _)| other)
            .collect()
    }

    /// Raises the lock of `id` to `wanted`, or says that others exclude it.
    ///
    /// On the way to EXCLUSIVE a connection takes PENDING and keeps it when readers are still there, so
    /// that no new reader comes in.
    pub(super) fn raise(&mut self, id: ConnectionId, wanted: LockLevel) -> Result<(), ()> {
        if self.level(id) >= wanted {
            return Ok(());
        }
        let holders = self.obstacles(id, wanted);
        if holders.is_empty() {
            self.take(id, wanted);
            return Ok(());
        }
        let only_readers = self.obstacles(id, LockLevel::Pending).is_empty();
        if wanted == LockLevel::Exclusive && only_readers && self.level(id) < LockLevel::Pending {
            self.take(id, LockLevel::Pending);
        }
        self.record(id, LockChange::Refused { wanted, holders });
        Err(())
    }

    /// Lowers the lock of `id` to `level`, which is SHARED or NONE.
    pub(super) fn lower(&mut self, id: ConnectionId, level: LockLevel) {
        if self.level(id) <= level {
            return;
        }
        if level == LockLevel::None {
            self.held.remove(&id);
        } else {
            self.held.insert(id, level);
        }
        self.record(id, LockChange::Released { to: level });
    }

    pub(super) fn release_all(&mut self, id: ConnectionId) {
        self.lower(id, LockLevel::None);
    }

    pub(super) fn last_refusal(&self, id: ConnectionId) -> Option<(LockLevel, Vec<ConnectionId>)> {
        self.recording
            .iter()
            .rev()
            .find_map(|event| match &event.change {
                LockChange::Refused { wanted, holders } if event.connection == id => {
                    Some((*wanted, holders.clone()))
                }
                _ => None,
            })
    }

    pub(super) fn take_recording(&mut self) -> Vec<LockEvent> {
        std::mem::take(&mut self.recording)
    }

    fn take(&mut self, id: ConnectionId, level: LockLevel) {
        self.held.insert(id, level);
        self.record(id, LockChange::Taken(level));
    }

    fn record(&mut self, connection: ConnectionId, change: LockChange) {
        self.recording.push(LockEvent { connection, change });
    }

    fn others(&self, id: ConnectionId) -> impl Iterator<Item = (ConnectionId, LockLevel)> + '_ {
        self.held
            .iter()
            .map(|(other, level)| (*other, *level))
            .filter(move |(other, _)| *other != id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use LockLevel::{Exclusive, None, Pending, Reserved, Shared};
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    const A: ConnectionId = ConnectionId(1);
    const B: ConnectionId = ConnectionId(2);

    #[test]
    fn a_second_reader_passes_while_another_holds_reserved() {
        let mut table = LockTable::default();
        assert!(table.raise(A, Shared).is_ok() && table.raise(A, Reserved).is_ok());
        assert!(table.raise(B, Shared).is_ok());
        assert!(table.raise(B, Reserved).is_err());
        assert_eq!(table.level(B), Shared);
    }

    #[test]
    fn a_committer_among_readers_keeps_pending_and_lets_no_new_reader_in() {
        let mut table = LockTable::default();
        assert!(table.raise(A, Shared).is_ok() && table.raise(A, Reserved).is_ok());
        assert!(table.raise(B, Shared).is_ok());
        assert!(table.raise(A, Exclusive).is_err());
        assert_eq!(table.level(A), Pending);
        table.lower(B, None);
        assert!(table.raise(B, Shared).is_err());
        assert!(table.raise(A, Exclusive).is_ok());
    }

    #[test]
    fn releasing_is_recorded_once() {
        let mut table = LockTable::default();
        assert!(table.raise(A, Shared).is_ok());
        table.lower(A, None);
        table.lower(A, None);
        assert_eq!(table.take_recording().len(), 2);
        assert!(table.is_free());
    }
}
