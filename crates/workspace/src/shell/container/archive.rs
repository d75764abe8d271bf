//! Archives in which files are copied into a container and out of it.

use crate::path::{UPLOADS, WorkspacePath};
use crate::section::WorkspaceLimits;
use bytes::Bytes;
use std::collections::BTreeMap;
use std::io::{self, Read};
use tar::{Archive, Builder, EntryType, Header, PaxExtensions};

/// The maximum number of shown names of entries that cannot be stored, and of the characters of each.
const MAX_LEFT_OUT: usize = 20;
const MAX_SHOWN: usize = 200;
/// The longest path of an entry in bytes. Linux knows no longer ones.
const MAX_LONG_PATH: u64 = 4096;
/// The most bytes of the header of the format pax before an entry.
const MAX_PAX: u64 = 64 << 10;
/// The files and folders that a call makes beside the files that the conversation may have.
pub(super) const MAX_NEW_NODES: u64 = 20_000;

/// Returns a file as a part of an archive. `path` is absolute.
pub(super) fn packed(path: &str, content: &[u8], changed_at: i64) -> io::Result<Vec<u8>> {
    let mut header = Header::new_gnu();
    header.set_size(content.len() as u64);
    header.set_mode(0o644);
    header.set_mtime(changed_at.max(0).unsigned_abs() / 1000);
    let mut builder = Builder::new(Vec::with_capacity(content.len() + 2048));
    builder.append_data(&mut header, path.trim_start_matches('/'), content)?;
    // Without the end of an archive, which the builder writes when it is dropped.
    Ok(std::mem::take(builder.get_mut()))
}

/// The end of an archive.
pub(super) const END: [u8; 1024] = [0; 1024];

/// The content of the folders after a script.
#[derive(Debug, Default)]
pub(super) struct Unpacked {
    pub(super) files: BTreeMap<String, Bytes>,
    /// The files that cannot be stored, each with the reason.
    pub(super) left_out: Vec<String>,
    /// Why nothing can be stored.
    pub(super) refused: Option<String>,
}

/// Reads an archive that was made in a container. The archive is not trusted: its content is written only to the files
/// of the conversation.
pub(super) fn unpack(archive: &[u8], limits: &WorkspaceLimits) -> Unpacked {
    let mut unpacked = Unpacked::default();
    match unpacked.read(archive, limits) {
        Ok(()) => {}
        Err(Stop::Refused(reason)) => unpacked.refused = Some(reason),
        Err(Stop::Damaged(error)) => {
            tracing::warn!(%error, "the files of a container cannot be read");
            unpacked.refused = Some("its files could not be read".to_owned());
        }
    }
    unpacked
}

enum Stop {
    Refused(String),
    Damaged(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Damaged(error)
    }
}

impl Unpacked {
    fn read(&mut self, archive: &[u8], limits: &WorkspaceLimits) -> Result<(), Stop> {
        let (mut nodes, mut bytes, mut long_path) = (0, 0, None);
        // Otherwise, the library reads names of any length and the holes of sparse files into memory by itself.
        for entry in Archive::new(archive).entries()?.raw(true) {
            let mut entry = entry?;
            match entry.header().entry_type() {
                EntryType::GNULongName => {
                    long_path = Some(until_zero(read_whole(&mut entry, MAX_LONG_PATH)?));
                    continue;
                }
                EntryType::XHeader => {
                    long_path = pax_path(&read_whole(&mut entry, MAX_PAX)?).or(long_path);
                    continue;
                }
                // The targets of links and the headers for all entries are not used.
                EntryType::GNULongLink | EntryType::XGlobalHeader => continue,
                EntryType::GNUSparse => return Err(Stop::Damaged(io::Error::other("it has a sparse file"))),
                _ => {}
            }
            nodes += 1;
            if nodes > limits.files.saturating_add(MAX_NEW_NODES) {
                return Err(Stop::Refused("there are too many files and folders".to_owned()));
            }
            let path = match String::from_utf8(long_path.take().unwrap_or_else(|| entry.path_bytes().into_owned())) {
                Ok(path) => format!("/{}", path.trim_end_matches('/')),
                Err(error) => {
                    let path = String::from_utf8_lossy(error.as_bytes()).into_owned();
                    self.leave_out(&path, "its name is not UTF-8");
                    continue;
                }
            };
            match entry.header().entry_type() {
                EntryType::Directory => continue,
                EntryType::Regular | EntryType::Continuous => {}
                kind => {
                    self.leave_out(&path, reason_for(kind));
                    continue;
                }
            }
            match WorkspacePath::parse_file(&path) {
                Ok(parsed) if parsed.as_str() == path && !parsed.is_below(UPLOADS) => {}
                Ok(_) => {
                    self.leave_out(&path, "a name must be in Unicode's composed form (NFC)");
                    continue;
                }
                Err(reason) => {
                    self.leave_out(&path, &reason);
                    continue;
                }
            }
            if self.files.len() as u64 >= limits.files {
                return Err(Stop::Refused(format!("a conversation may have {} files", limits.files)));
            }
            let mut content = Vec::new();
            entry.take(limits.file_bytes.saturating_add(1)).read_to_end(&mut content)?;
            if content.len() as u64 > limits.file_bytes {
                let most = limits.file_bytes;
                return Err(Stop::Refused(format!("`{path}` is too large: a file may have {most} bytes")));
            }
            bytes += content.len() as u64;
            if bytes > limits.bytes {
                let most = limits.bytes;
                return Err(Stop::Refused(format!("it wrote too much: all files may have {most} bytes")));
            }
            self.files.insert(path, content.into());
        }
        Ok(())
    }

    fn leave_out(&mut self, path: &str, reason: &str) {
        if self.left_out.len() < MAX_LEFT_OUT {
            // The name may have any characters.
            let shown: String = path.chars().take(MAX_SHOWN).collect();
            self.left_out.push(format!("{shown:?}: {reason}"));
        } else if self.left_out.len() == MAX_LEFT_OUT {
            self.left_out.push("and more".to_owned());
        }
    }
}

/// Reads an entry that describes the next one.
fn read_whole(entry: &mut impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    entry.take(most + 1).read_to_end(&mut content)?;
    if content.len() as u64 > most {
        return Err(io::Error::other("the description of an entry is too large"));
    }
    Ok(content)
}

fn until_zero(mut path: Vec<u8>) -> Vec<u8> {
    let length = path.iter().position(|byte| *byte == 0).unwrap_or(path.len());
    path.truncate(length);
    path
}

/// Returns the path in a header of the format pax.
fn pax_path(header: &[u8]) -> Option<Vec<u8>> {
    let mut records = PaxExtensions::new(header).filter_map(Result::ok);
    records.find(|record| record.key_bytes() == b"path").map(|record| record.value_bytes().to_vec())
}

/// Returns why an entry of this kind cannot be stored.
fn reason_for(kind: EntryType) -> &'static str {
    match kind {
        EntryType::Symlink | EntryType::Link => "it is a link",
        EntryType::Fifo => "it is a pipe",
        _ => "it is no file",
    }
}

/// An entry with any kind, size and path, for fuzzing and tests.
#[cfg(any(test, all(feature = "fuzz", not(feature = "shell"))))]
pub(crate) type AnyEntry<'e> = (u8, Option<u64>, &'e str, &'e [u8]);

/// Returns an archive of entries whose checksums are right. A size that is given need not be that of the content.
#[cfg(any(test, all(feature = "fuzz", not(feature = "shell"))))]
fn any_archive(entries: &[AnyEntry<'_>]) -> Vec<u8> {
    let mut archive = Vec::new();
    for (kind, size, path, content) in entries {
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::new(*kind));
        header.set_size(size.unwrap_or(content.len() as u64));
        let length = path.len().min(100);
        header.as_mut_bytes()[..length].copy_from_slice(&path.as_bytes()[..length]);
        header.set_cksum();
        archive.extend_from_slice(header.as_bytes());
        archive.extend_from_slice(content);
        archive.resize(archive.len().next_multiple_of(512), 0);
    }
    archive
}

/// Checks that nothing exceeds the limits.
#[cfg(any(test, all(feature = "fuzz", not(feature = "shell"))))]
fn assert_bounded(unpacked: &Unpacked, limits: &WorkspaceLimits) {
    let Unpacked { files, left_out, .. } = unpacked;
    assert!(files.len() as u64 <= limits.files);
    assert!(files.values().all(|content| content.len() as u64 <= limits.file_bytes));
    assert!(left_out.len() <= MAX_LEFT_OUT + 1 && left_out.iter().all(|reason| reason.len() < 4_000));
    for path in files.keys() {
        let parsed = WorkspacePath::parse_file(path);
        assert!(parsed.is_ok_and(|parsed| parsed.as_str() == path && !parsed.is_below(UPLOADS)), "{path:?}");
    }
}

/// Reads archives of any bytes and of any entries, and one that was packed here, for fuzzing.
#[cfg(all(feature = "fuzz", not(feature = "shell")))]
pub(crate) fn fuzz(bytes: &[u8], entries: &[AnyEntry<'_>]) {
    let limits = WorkspaceLimits { file_bytes: 1_000, bytes: 2_000, files: 3, ..WorkspaceLimits::default() };
    for archive in [bytes, &any_archive(entries)[..]] {
        assert_bounded(&unpack(archive, &limits), &limits);
    }
    if let Ok(mut archive) = packed("/workspace/a", bytes, 0) {
        archive.extend_from_slice(&END);
        let unpacked = unpack(&archive, &WorkspaceLimits::default());
        assert_eq!(unpacked.files.get("/workspace/a").map(|content| &content[..]), Some(bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn archive(entries: &[(&str, EntryType, &[u8])]) -> Vec<u8> {
        let mut builder = Builder::new(Vec::new());
        for (path, kind, content) in entries {
            let mut header = Header::new_gnu();
            header.set_entry_type(*kind);
            header.set_size(content.len() as u64);
            // A path that the library does not write.
            header.as_mut_bytes()[..path.len()].copy_from_slice(path.as_bytes());
            header.set_cksum();
            builder.append(&header, *content).unwrap();
        }
        builder.into_inner().unwrap()
    }

    #[test]
    fn packed_files_are_unpacked() {
        let long = format!("/workspace/{}/{}.txt", "a".repeat(100), "b".repeat(100));
        let parts = [packed("/workspace/a", b"one", 1000).unwrap(), packed(&long, b"two", -5).unwrap(), END.to_vec()];
        let unpacked = unpack(&parts.concat(), &WorkspaceLimits::default());
        let files: Vec<_> = unpacked.files.iter().map(|(path, content)| (path.as_str(), &content[..])).collect();
        assert_eq!(files, [("/workspace/a", &b"one"[..]), (&long, &b"two"[..])]);
        assert_eq!((unpacked.left_out.len(), unpacked.refused), (0, None));
    }

    #[test]
    fn nothing_but_files_of_the_conversation_is_taken_out() {
        let limits = WorkspaceLimits { file_bytes: 5, bytes: 8, files: 2, ..WorkspaceLimits::default() };
        let file = EntryType::Regular;
        let check = |entries: &[(&str, EntryType, &[u8])], expected: &str| {
            let Unpacked { files, left_out, refused } = unpack(&archive(entries), &limits);
            let files: Vec<_> = files.keys().map(String::as_str).collect();
            assert_eq!(format!("{files:?} {left_out:?} {}", refused.unwrap_or_default()), expected);
        };
        check(&[("workspace/", EntryType::Directory, b""), ("workspace/a", file, b"x")], r#"["/workspace/a"] [] "#);
        check(&[("outputs/l", EntryType::Symlink, b"")], r#"[] ["\"/outputs/l\": it is a link"] "#);
        for path in ["workspace/../etc/passwd", "../etc/passwd", "etc/passwd", "/etc/passwd", "uploads/a", "workspace"]
        {
            let Unpacked { files, left_out, .. } = unpack(&archive(&[(path, file, b"x")]), &limits);
            assert_eq!((files.len(), left_out.len()), (0, 1), "{path}");
        }
        check(&[("workspace/a", file, b"123456")], "[] [] `/workspace/a` is too large: a file may have 5 bytes");
        let many = [("workspace/a", file, &b"12345"[..]), ("workspace/b", file, &b"12345"[..])];
        check(&many, r#"["/workspace/a"] [] it wrote too much: all files may have 8 bytes"#);
        let many = ["workspace/a", "workspace/b", "workspace/c"].map(|path| (path, file, &b"x"[..]));
        check(&many, r#"["/workspace/a", "/workspace/b"] [] a conversation may have 2 files"#);
    }

    fn any_entry() -> impl Strategy<Value = (u8, Option<u64>, String, Vec<u8>)> {
        let kind = prop::sample::select(b"0123567LKxgS".to_vec());
        let content = prop::collection::vec(any::<u8>(), 0..1_500);
        (kind, prop::option::of(any::<u64>()), "(workspace|outputs|uploads|etc)/[a-c./]{0,5}", content)
    }

    #[test]
    fn descriptions_of_entries_are_bounded() {
        let limits = WorkspaceLimits::default();
        let check = |entries: &[AnyEntry<'_>], expected: &str| {
            let Unpacked { files, left_out, refused } = unpack(&any_archive(entries), &limits);
            let files: Vec<_> = files.keys().map(String::as_str).collect();
            assert_eq!(format!("{files:?} {left_out:?} {}", refused.unwrap_or_default()), expected);
        };
        let file = (b'0', None, "workspace/a", &b"x"[..]);
        check(&[(b'L', None, "", b"workspace/b\0"), file], r#"["/workspace/b"] [] "#);
        check(&[(b'x', None, "", b"20 path=workspace/c\n"), file], r#"["/workspace/c"] [] "#);
        // A long name applies to the next entry only.
        check(&[(b'L', None, "", b"workspace/b"), file, file], r#"["/workspace/a", "/workspace/b"] [] "#);
        // The size in the header of the format pax is not read: it would hide an entry in the content of another one.
        check(&[(b'x', None, "", b"9 size=0\n"), file], r#"["/workspace/a"] [] "#);
        check(&[(b'K', None, "", b"/etc/passwd"), (b'g', None, "", b"x"), file], r#"["/workspace/a"] [] "#);
        let damaged = "[] [] its files could not be read";
        check(&[(b'L', None, "", &[b'a'; 5_000]), file], damaged);
        check(&[(b'x', None, "", &[b'a'; 70_000]), file], damaged);
        check(&[(b'S', None, "workspace/s", b"")], damaged);
        check(&[(b'L', Some(u64::MAX), "", b"")], damaged);
        let long = "n".repeat(3_000);
        let left_out = format!("[] [\"\\\"/{}\\\": a path has at most 400 bytes\"] ", "n".repeat(MAX_SHOWN - 1));
        check(&[(b'L', None, "", long.as_bytes()), file], &left_out);
    }

    proptest! {
        #[test]
        fn any_entries_are_bounded(entries in prop::collection::vec(any_entry(), 0..8)) {
            let limits = WorkspaceLimits { file_bytes: 1_000, bytes: 2_000, files: 3, ..WorkspaceLimits::default() };
            let entries: Vec<AnyEntry<'_>> =
                entries.iter().map(|(kind, size, path, content)| (*kind, *size, path.as_str(), &content[..])).collect();
            assert_bounded(&unpack(&any_archive(&entries), &limits), &limits);
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
            let limits = WorkspaceLimits::default();
            assert_bounded(&unpack(&bytes, &limits), &limits);
        }
    }
}
