//! The backup file: a tar archive that ends with `manifest.json`, which lists each file with its
//! size and SHA-256.

use anyhow::{Context, bail, ensure};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Component, Path, PathBuf};

/// The name of the database in a backup.
pub(super) const DATABASE: &str = "chatwright.db";
const MANIFEST: &str = "manifest.json";
/// The version of the format.
const FORMAT: u32 = 1;
/// The limit on the size of a manifest in bytes, enough for several hundred thousand files.
const MAX_MANIFEST_BYTES: u64 = 64 * 1024 * 1024;

/// The manifest of a backup.
#[derive(Serialize, Deserialize)]
pub(super) struct Manifest {
    format: u32,
    version: String,
    pub(super) schema: i64,
    created: String,
    files: BTreeMap<String, FileEntry>,
}

#[derive(Serialize, Deserialize, PartialEq, Eq)]
struct FileEntry {
    bytes: u64,
    sha256: String,
}

/// A reader that counts and hashes the bytes that pass through it.
struct HashingReader<R> {
    inner: R,
    hash: Sha256,
    bytes: u64,
}

impl<R: Read> Read for HashingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.hash.update(&buffer[..read]);
        self.bytes += read as u64;
        Ok(read)
    }
}

impl<R> HashingReader<R> {
    fn new(inner: R) -> Self {
        Self { inner, hash: Sha256::new(), bytes: 0 }
    }

    fn entry(self) -> FileEntry {
        let sha256 = hex::encode(self.hash.finalize());
        FileEntry { bytes: self.bytes, sha256 }
    }
}

/// Writes a backup into the folder `work`; returns its path and the number of files in it.
pub(super) fn write(
    work: &Path,
    database: &Path,
    schema: i64,
    parts: &[(&str, PathBuf)],
) -> anyhow::Result<(PathBuf, usize)> {
    let path = work.join("backup.tar");
    let mut tar = tar::Builder::new(BufWriter::new(create_private_file(&path)?));
    let mut files = BTreeMap::new();
    add_file(&mut tar, &mut files, DATABASE.to_owned(), database)?;
    for (name, path) in parts {
        add_path(&mut tar, &mut files, (*name).to_owned(), path)?;
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

type Files = BTreeMap<String, FileEntry>;

/// Adds a file, or a folder with its contents. Symbolic links are skipped: their targets do not
/// belong to the server.
fn add_path<W: Write>(tar: &mut tar::Builder<W>, files: &mut Files, name: String, path: &Path) -> anyhow::Result<()> {
    let kind = fs::symlink_metadata(path).map(|found| found.file_type());
    match kind {
        Ok(kind) if kind.is_file() => add_file(tar, files, name, path),
        Ok(kind) if kind.is_dir() => {
            let mut inside = fs::read_dir(path)?.collect::<Result<Vec<_>, _>>()?;
            inside.sort_by_key(fs::DirEntry::file_name);
            inside.into_iter().try_for_each(|entry| {
                let own = entry.file_name();
                let own =
                    own.to_str().with_context(|| format!("{}: its name is not valid UTF-8", entry.path().display()))?;
                add_path(tar, files, format!("{name}/{own}"), &entry.path())
            })
        }
        _ => Ok(()),
    }
}

fn add_file<W: Write>(tar: &mut tar::Builder<W>, files: &mut Files, name: String, path: &Path) -> anyhow::Result<()> {
    let file = match File::open(path) {
        // The file was deleted after its folder was listed.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        opened => opened.with_context(|| format!("cannot read {}", path.display()))?,
    };
    let bytes = file.metadata()?.len();
    // A file that grows during the backup is copied up to the length that was read above.
    let mut summed = HashingReader::new(BufReader::new(file.take(bytes)));
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

/// Unpacks a backup into the folder `work` and verifies each file.
///
/// # Errors
/// The backup is damaged or from a newer version.
pub(super) fn unpack(from: &Path, work: &Path) -> anyhow::Result<Manifest> {
    let file = File::open(from).with_context(|| format!("cannot read {}", from.display()))?;
    let not_ours = || format!("{} is not a Chatwright backup, or is truncated", from.display());
    let mut tar = tar::Archive::new(BufReader::new(file));
    let (mut found, mut manifest) = (Files::new(), None);
    for entry in tar.entries().with_context(not_ours)? {
        let entry = entry.with_context(not_ours)?;
        ensure!(entry.header().entry_type().is_file(), "{}: it contains an entry that is not a file", from.display());
        let name = entry.path().ok().and_then(|path| Some(path.to_str()?.to_owned())).with_context(not_ours)?;
        if name == MANIFEST {
            let read: Manifest = serde_json::from_reader(entry.take(MAX_MANIFEST_BYTES)).with_context(not_ours)?;
            manifest = Some(read);
            continue;
        }
        found.insert(name.clone(), extract_entry(entry, &name, work)?);
    }
    let manifest = manifest.with_context(not_ours)?;
    ensure!(manifest.format == FORMAT, "{}: format {} was written by a newer version", from.display(), manifest.format);
    if let Some(name) =
        manifest.files.iter().find(|(name, entry)| found.get(*name) != Some(*entry)).map(|(name, _)| name)
    {
        bail!("{}: `{name}` is missing or damaged", from.display());
    }
    ensure!(
        found.len() == manifest.files.len(),
        "{}: it contains files that its manifest does not list",
        from.display()
    );
    ensure!(found.contains_key(DATABASE), "{}: it contains no database", from.display());
    Ok(manifest)
}

/// Writes a file of the backup below `work`. Only paths of known parts without `..` are accepted.
fn extract_entry(entry: impl Read, name: &str, work: &Path) -> anyhow::Result<FileEntry> {
    let is_plain = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
    let part = name.split('/').next().unwrap_or_default();
    ensure!(is_plain && (part == DATABASE || super::PARTS.contains(&part)), "`{name}` does not belong in a backup");
    let path = work.join(name);
    if let Some(folder) = path.parent() {
        use std::os::unix::fs::DirBuilderExt;
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let mut summed = HashingReader::new(entry);
    let mut file = create_private_file(&path)?;
    std::io::copy(&mut summed, &mut file).with_context(|| format!("cannot unpack `{name}`"))?;
    file.sync_all()?;
    Ok(summed.entry())
}

fn create_private_file(path: &Path) -> anyhow::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let opened = File::options().write(true).create_new(true).mode(0o600).open(path);
    opened.with_context(|| format!("cannot write {}", path.display()))
}

/// Syncs the entries of a folder to disk.
pub(super) fn sync_folder(folder: &Path) -> anyhow::Result<()> {
    Ok(File::open(folder)?.sync_all()?)
}
