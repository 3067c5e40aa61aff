//! A file's bytes, in pages that are shared with snapshots until one side writes.

use std::rc::Rc;

/// Bytes in a page of storage. Independent of SQLite's page size, which is set to the same number.
const PAGE: usize = 4096;

/// Where SQLite keeps the database's change counter, and where it says for which counter the size in
/// the header was written (SQLite file format, 1.3.7 and 1.3.12).
const CHANGE_COUNTER: usize = 24;
const VERSION_VALID_FOR: usize = 92;

/// A growable file in memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Pages {
    pages: Vec<Rc<[u8; PAGE]>>,
    length: usize,
    writes: u64,
}

impl Pages {
    pub(super) fn len(&self) -> usize {
        self.length
    }

    /// How often this file was written or cut since it was made.
    pub(super) fn writes(&self) -> u64 {
        self.writes
    }

    /// Copies from `offset` into `buffer`; returns how many bytes there were, in bytes.
    pub(super) fn read(&self, buffer: &mut [u8], offset: usize) -> usize {
        let count = self.length.saturating_sub(offset).min(buffer.len());
        let mut done = 0;
        while done < count {
            let (page, start) = ((offset + done) / PAGE, (offset + done) % PAGE);
            let part = (PAGE - start).min(count - done);
            buffer[done..done + part].copy_from_slice(&self.pages[page][start..start + part]);
            done += part;
        }
        count
    }

    /// Writes `bytes` at `offset`; a gap before them reads as zeros.
    pub(super) fn write(&mut self, bytes: &[u8], offset: usize) {
        let end = offset + bytes.len();
        while self.pages.len() * PAGE < end {
            self.pages.push(Rc::new([0; PAGE]));
        }
        let mut done = 0;
        while done < bytes.len() {
            let (page, start) = ((offset + done) / PAGE, (offset + done) % PAGE);
            let part = (PAGE - start).min(bytes.len() - done);
            let target = &mut Rc::make_mut(&mut self.pages[page])[start..start + part];
            target.copy_from_slice(&bytes[done..done + part]);
            done += part;
        }
        self.length = self.length.max(end);
        self.writes += 1;
    }

    /// Cuts the file to `length` bytes. A file is never made longer by this.
    pub(super) fn truncate(&mut self, length: usize) {
        if length >= self.length {
            return;
        }
        self.pages.truncate(length.div_ceil(PAGE));
        if let Some(last) = self.pages.last_mut()
            && !length.is_multiple_of(PAGE)
        {
            Rc::make_mut(last)[length % PAGE..].fill(0);
        }
        self.length = length;
        self.writes += 1;
    }

    /// Takes over the bytes of `other`, with a change counter that no connection has seen before.
    pub(super) fn restore(&mut self, other: &Pages) {
        let seen = self.change_counter().max(other.change_counter());
        self.pages.clone_from(&other.pages);
        self.length = other.length;
        self.writes += 1;
        if self.length > VERSION_VALID_FOR {
            let next = seen.wrapping_add(1).to_be_bytes();
            self.write(&next, CHANGE_COUNTER);
            self.write(&next, VERSION_VALID_FOR);
        }
    }

    /// All bytes in one piece.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.length];
        self.read(&mut bytes, 0);
        bytes
    }

    fn change_counter(&self) -> u32 {
        let mut counter = [0; 4];
        self.read(&mut counter, CHANGE_COUNTER);
        u32::from_be_bytes(counter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    #[test]
    fn bytes_written_across_a_page_edge_are_read_back() {
        let mut file = Pages::default();
        file.write(&[7; 10], PAGE - 5);
        let mut buffer = [1; 12];
        assert_eq!(file.read(&mut buffer, PAGE - 6), 11);
        assert_eq!(buffer, [0, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 1]);
        assert_eq!(file.len(), PAGE + 5);
    }

    #[test]
    fn what_was_cut_off_does_not_come_back() {
        let mut file = Pages::default();
        file.write(&[7; PAGE + 10], 0);
        file.truncate(3);
        file.write(&[9], 8);
        assert_eq!(file.to_bytes(), [7, 7, 7, 0, 0, 0, 0, 0, 9]);
        file.truncate(100);
        assert_eq!(file.len(), 9);
    }

    #[test]
    fn a_clone_keeps_its_bytes_when_the_other_is_written() {
        let mut file = Pages::default();
        file.write(&[1; 4], 0);
        let kept = file.clone();
        file.write(&[2; 4], 0);
        assert_eq!(kept.to_bytes(), [1; 4]);
    }
}
