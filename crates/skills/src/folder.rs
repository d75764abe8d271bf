//! Skills in folders: finds them, and reads their files. Links are never followed below the folder that the
//! config names.

use crate::path::{MAX_DEPTH, SkillPath};
use cap_fs_ext::OpenOptionsSyncExt;
use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};
use sha2::{Digest, Sha256};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// The names of the file with the instructions.
pub(crate) const SKILL_FILES: [&str; 2] = ["SKILL.md", "skill.md"];
/// The most files of a skill that are listed.
pub(crate) const MAX_FILES: usize = 500;
/// The largest file that is read, in bytes.
pub(crate) const MAX_FILE: u64 = 8 * 1024 * 1024;
/// The most skills of a folder.
const MAX_SKILLS: usize = 200;
/// The most entries of all folders that are looked at.
const MAX_ENTRIES: usize = 20_000;

/// The folder of a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FoundFolder {
    pub(crate) path: PathBuf,
    /// The name of the folder.
    pub(crate) name: String,
    /// The file with the instructions.
    pub(crate) skill_file: &'static str,
    /// Its other files, in order.
    pub(crate) files: Vec<SkillPath>,
    /// Changes when a file is added, changed or removed.
    pub(crate) stamp: String,
}

/// Finds the folders with skills: `folder` itself, or folders below it. Those whose names begin with a dot
/// are left out, and nothing is searched below the folder of a skill.
pub(crate) fn find(folder: &Path) -> io::Result<Vec<FoundFolder>> {
    let (mut found, mut budget) = (Vec::new(), MAX_ENTRIES);
    let mut open = vec![(folder.to_owned(), 0)];
    while let Some((path, depth)) = open.pop() {
        let entries = entries(&path, &mut budget)?;
        let is_file = |name: &str| entries.iter().any(|entry| entry.name == name && entry.kind == Kind::File);
        if let Some(skill_file) = SKILL_FILES.into_iter().find(|name| is_file(name)) {
            found.push(found_folder(path, skill_file, &mut budget)?);
        } else if depth < MAX_DEPTH {
            let folders =
                entries.into_iter().filter(|entry| entry.kind == Kind::Folder && !entry.name.starts_with('.'));
            open.extend(folders.map(|entry| (path.join(entry.name), depth + 1)));
        }
        if found.len() == MAX_SKILLS || budget == 0 {
            break;
        }
    }
    found.sort_unstable_by(|one, other| one.path.cmp(&other.path));
    Ok(found)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    File,
    Folder,
}

struct Entry {
    name: String,
    kind: Kind,
    stamp: String,
}

/// Lists a folder. Links and special files are left out.
fn entries(folder: &Path, budget: &mut usize) -> io::Result<Vec<Entry>> {
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let Some(left) = budget.checked_sub(1) else { break };
        *budget = left;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let about = entry.metadata()?;
        let kind = match about.file_type() {
            kind if kind.is_dir() => Kind::Folder,
            kind if kind.is_file() => Kind::File,
            _ => continue,
        };
        let time = about.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
        entries.push(Entry { name, kind, stamp: format!("{}:{}", about.len(), time.as_nanos()) });
    }
    entries.sort_unstable_by(|one, other| one.name.cmp(&other.name));
    Ok(entries)
}

fn found_folder(path: PathBuf, skill_file: &'static str, budget: &mut usize) -> io::Result<FoundFolder> {
    let (mut files, mut stamp) = (Vec::new(), Sha256::new());
    let mut open = vec![(path.clone(), String::new())];
    while let Some((folder, prefix)) = open.pop() {
        for entry in entries(&folder, budget)?.into_iter().filter(|entry| !entry.name.starts_with('.')) {
            // Names that a model could not ask for are left out.
            let Ok(file) = SkillPath::parse(&format!("{prefix}{}", entry.name)) else { continue };
            match entry.kind {
                Kind::Folder => open.push((folder.join(&entry.name), format!("{file}/"))),
                Kind::File => {
                    stamp.update(format!("{file}\n{}\n", entry.stamp));
                    if file.as_str() != skill_file && files.len() < MAX_FILES {
                        files.push(file);
                    }
                }
            }
        }
    }
    files.sort_unstable();
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(FoundFolder { path, name, skill_file, files, stamp: hex::encode(&stamp.finalize()[..16]) })
}

/// Reads a file of a skill.
///
/// # Errors
/// Why it cannot be read, for the model.
pub(crate) fn read_file(folder: &Path, path: &SkillPath) -> Result<Vec<u8>, String> {
    let missing = || format!("The skill has no file `{path}`.");
    let folder = Dir::open_ambient_dir(folder, ambient_authority()).map_err(|_| missing())?;
    for step in path.steps() {
        let about = folder.symlink_metadata(step).map_err(|_| missing())?;
        if about.is_symlink() {
            return Err(format!("`{path}` is a link, which is not followed."));
        }
    }
    let mut options = OpenOptions::new();
    // Without `nonblock`, opening a pipe would block until someone writes to it.
    options.read(true).nonblock(true);
    let file = folder.open_with(path.as_str(), &options).map_err(|_| missing())?;
    let about = file.metadata().map_err(|_| missing())?;
    if !about.is_file() {
        return Err(format!("`{path}` is not a file."));
    }
    if about.len() > MAX_FILE {
        return Err(format!("`{path}` is larger than {} MB.", MAX_FILE >> 20));
    }
    let mut bytes = Vec::new();
    file.take(MAX_FILE).read_to_end(&mut bytes).map_err(|_| missing())?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{create_dir_all, write};
    use std::os::unix::fs::symlink;

    #[test]
    fn skills_are_found_and_links_are_refused() {
        let top = tempfile::tempdir().unwrap();
        let base = top.path().join("base");
        let put = |path: &str| {
            let path = base.join(path);
            create_dir_all(path.parent().unwrap()).unwrap();
            write(path, "x").unwrap();
        };
        ["one/SKILL.md", "one/a/b.md", "one/below/SKILL.md", "deep/two/skill.md", ".git/three/SKILL.md", "none/x.md"]
            .iter()
            .for_each(|path| put(path));
        write(top.path().join("secret"), "canary").unwrap();
        symlink(top.path().join("secret"), base.join("one/out")).unwrap();
        symlink(top.path(), base.join("one/up")).unwrap();
        symlink(base.join("one"), base.join("linked")).unwrap();
        let found = find(&base).unwrap();
        let shown: Vec<_> = found
            .iter()
            .map(|found| {
                let files = found.files.iter().map(SkillPath::as_str).collect::<Vec<_>>().join(" ");
                format!("{} {}: {files}", found.name, found.skill_file)
            })
            .collect();
        assert_eq!(shown, ["two skill.md: ", "one SKILL.md: a/b.md below/SKILL.md"]);

        let folder = base.join("one");
        let check = |path: &str, expected: Result<&str, &str>| {
            let read = read_file(&folder, &SkillPath::parse(path).unwrap());
            let read = read.map(|bytes| String::from_utf8(bytes).unwrap());
            assert_eq!(read.as_deref().map_err(String::as_str), expected, "{path}");
        };
        check("a/b.md", Ok("x"));
        check("out", Err("`out` is a link, which is not followed."));
        check("up/secret", Err("`up/secret` is a link, which is not followed."));
        check("a", Err("`a` is not a file."));
        check("a/c.md", Err("The skill has no file `a/c.md`."));

        let before = found[1].stamp.clone();
        write(folder.join("a/b.md"), "changed").unwrap();
        assert_ne!(find(&base).unwrap()[1].stamp, before);
        assert!(find(&base.join("missing")).is_err());
    }
}
