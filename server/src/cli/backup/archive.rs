//! The file of a backup: a tar with `manifest.json` at its end, which names each file with its size and its SHA-256.

use anyhow::{Context, bail, ensure};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Component, Path, PathBuf};

/// The database within a backup.
pub(super) const DATABASE: &str = "chatwright.db";
const MANIFEST: &str = "manifest.json";
/// What this version writes and reads.
const FORMAT: u32 = 1;
/// A manifest is not longer, in bytes: some hundred thousand files.
const MOST_MANIFEST: u64 = 64 * 1024 * 1024;

/// What a backup holds.
#[derive(Serialize, Deserialize)]
pub(super) struct Manifest {
    format: u32,
    version: String,
    pub(super) schema: i64,
    created: String,
    files: BTreeMap<String, Entry>,
}

#[derive(Serialize, Deserialize, PartialEq, Eq)]
struct Entry {
    bytes: u64,
    sha256: String,
}

/// Reads through and adds up.
struct Summed<R> {
    inner: R,
    hash: Sha256,
    bytes: u64,
}

impl<R: Read> Read for Summed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.hash.update(&buffer[..read]);
        self.bytes += read as u64;
        Ok(read)
    }
}

impl<R> Summed<R> {
    fn new(inner: R) -> Self {
        Self { inner, hash: Sha256::new(), bytes: 0 }
    }

    fn entry(self) -> Entry {
        let sha256 = self.hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Entry { bytes: self.bytes, sha256 }
    }
}

/// Writes a backup into the folder `work`; answers where it is, and how many files are in it.
pub(super) fn write(
    work: &Path,
    database: &Path,
    schema: i64,
    parts: &[(&str, PathBuf)],
) -> anyhow::Result<(PathBuf, usize)> {
    let path = work.join("backup.tar");
    let mut tar = tar::Builder::new(BufWriter::new(private(&path)?));
    let mut files = BTreeMap::new();
    add(&mut tar, &mut files, DATABASE.to_owned(), database)?;
    for (name, path) in parts {
        add_all(&mut tar, &mut files, (*name).to_owned(), path)?;
    }
    let count = files.len();
    let created = jiff::Timestamp::now().to_string();
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let manifest = serde_json::to_vec_pretty(&Manifest { format: FORMAT, version, schema, created, files })?;
    tar.append_data(&mut header(manifest.len() as u64), MANIFEST, manifest.as_slice())?;
    let mut file = tar.into_inner()?;
    file.flush()?;
    file.get_ref().sync_all()?;
    Ok((path, count))
}

type Files = BTreeMap<String, Entry>;

/// A file, or a folder with all that is in it. Links are left out: what they lead to is not the server's.
fn add_all<W: Write>(tar: &mut tar::Builder<W>, files: &mut Files, name: String, path: &Path) -> anyhow::Result<()> {
    let kind = fs::symlink_metadata(path).map(|found| found.file_type());
    match kind {
        Ok(kind) if kind.is_file() => add(tar, files, name, path),
        Ok(kind) if kind.is_dir() => {
            let mut inside = fs::read_dir(path)?.collect::<Result<Vec<_>, _>>()?;
            inside.sort_by_key(fs::DirEntry::file_name);
            inside.into_iter().try_for_each(|entry| {
                let own = entry.file_name();
                let own = own.to_str().with_context(|| format!("{}: its name is no text", entry.path().display()))?;
                add_all(tar, files, format!("{name}/{own}"), &entry.path())
            })
        }
        _ => Ok(()),
    }
}

fn add<W: Write>(tar: &mut tar::Builder<W>, files: &mut Files, name: String, path: &Path) -> anyhow::Result<()> {
    let file = match File::open(path) {
        // Deleted since its folder was listed.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        opened => opened.with_context(|| format!("cannot read {}", path.display()))?,
    };
    let bytes = file.metadata()?.len();
    // One that grows is copied as far as it had come.
    let mut summed = Summed::new(BufReader::new(file.take(bytes)));
    tar.append_data(&mut header(bytes), &name, &mut summed)?;
    ensure!(summed.bytes == bytes, "{} became shorter while it was copied; try again", path.display());
    files.insert(name, summed.entry());
    Ok(())
}

fn header(bytes: u64) -> tar::Header {
    let mut header = tar::Header::new_gnu();
    header.set_size(bytes);
    header.set_mode(0o600);
    header
}

/// Unpacks a backup into the folder `work` and checks each file.
///
/// # Errors
/// One line: what is wrong with it.
pub(super) fn unpack(from: &Path, work: &Path) -> anyhow::Result<Manifest> {
    let file = File::open(from).with_context(|| format!("cannot read {}", from.display()))?;
    let not_ours = || format!("{} is no backup of Chatwright, or is cut off", from.display());
    let mut tar = tar::Archive::new(BufReader::new(file));
    let (mut found, mut manifest) = (Files::new(), None);
    for entry in tar.entries().with_context(not_ours)? {
        let entry = entry.with_context(not_ours)?;
        ensure!(entry.header().entry_type().is_file(), "{}: there is something else than files in it", from.display());
        let name = entry.path().ok().and_then(|path| Some(path.to_str()?.to_owned())).with_context(not_ours)?;
        if name == MANIFEST {
            let read: Manifest = serde_json::from_reader(entry.take(MOST_MANIFEST)).with_context(not_ours)?;
            manifest = Some(read);
            continue;
        }
        found.insert(name.clone(), take_out(entry, &name, work)?);
    }
    let manifest = manifest.with_context(not_ours)?;
    ensure!(manifest.format == FORMAT, "{}: format {} is a newer version's", from.display(), manifest.format);
    if let Some(name) =
        manifest.files.iter().find(|(name, entry)| found.get(*name) != Some(*entry)).map(|(name, _)| name)
    {
        bail!("{}: `{name}` in it is missing or damaged", from.display());
    }
    ensure!(found.len() == manifest.files.len(), "{}: there is more in it than it names", from.display());
    ensure!(found.contains_key(DATABASE), "{}: there is no database in it", from.display());
    Ok(manifest)
}

/// Only names of parts lead anywhere, and never out of `work`.
fn take_out(entry: impl Read, name: &str, work: &Path) -> anyhow::Result<Entry> {
    let is_plain = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
    let part = name.split('/').next().unwrap_or_default();
    ensure!(is_plain && (part == DATABASE || super::PARTS.contains(&part)), "`{name}` is no part of a backup");
    let path = work.join(name);
    if let Some(folder) = path.parent() {
        use std::os::unix::fs::DirBuilderExt;
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let mut summed = Summed::new(entry);
    let mut file = private(&path)?;
    std::io::copy(&mut summed, &mut file).with_context(|| format!("cannot unpack `{name}`"))?;
    file.sync_all()?;
    Ok(summed.entry())
}

fn private(path: &Path) -> anyhow::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let opened = File::options().write(true).create_new(true).mode(0o600).open(path);
    opened.with_context(|| format!("cannot write {}", path.display()))
}

/// A folder's entries are on disk.
pub(super) fn sync(folder: &Path) -> anyhow::Result<()> {
    Ok(File::open(folder)?.sync_all()?)
}
