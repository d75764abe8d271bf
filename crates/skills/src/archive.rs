//! Unpacks the archive of a skill, in memory and within bounds. No entry is written to a disk, and names of entries are
//! only compared and stored.

use crate::folder::{MAX_FILE, MAX_FILES, SKILL_FILES};
use crate::path::SkillPath;
use std::collections::HashSet;
use std::io::{Cursor, Read};
use unicode_normalization::UnicodeNormalization;
use zip::ZipArchive;
use zip::read::ZipFile;

/// The largest archive in bytes.
pub(crate) const MAX_ARCHIVE: usize = 10 * 1024 * 1024;
/// The most bytes of all files together.
pub(crate) const MAX_UNPACKED: u64 = 16 * 1024 * 1024;
/// The most entries, folders included.
const MAX_ENTRIES: usize = 2 * MAX_FILES;
/// How many times as large as the archive its files may be, above [`FREE_BYTES`].
const MAX_RATIO: u64 = 100;
/// Archives that unpack to less than this may have any ratio: a short text that repeats itself is harmless.
const FREE_BYTES: u64 = 1024 * 1024;

/// The files of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnpackedArchive {
    /// The name of the folder that has all of them, if there is one.
    pub(crate) folder: Option<String>,
    /// Their paths below the folder, and their bytes, in order. One of them is the `SKILL.md`.
    pub(crate) files: Vec<(SkillPath, Vec<u8>)>,
}

/// Unpacks an archive.
///
/// # Errors
/// Why it is refused.
pub(crate) fn unpack(bytes: &[u8]) -> Result<UnpackedArchive, String> {
    if bytes.len() > MAX_ARCHIVE {
        return Err(format!("The archive is larger than {} MB.", MAX_ARCHIVE >> 20));
    }
    let mut archive =
        ZipArchive::new(Cursor::new(bytes)).map_err(|_| "This is not a ZIP archive, or it is damaged.")?;
    if archive.len() > MAX_ENTRIES {
        return Err(format!("The archive has more than {MAX_ENTRIES} entries."));
    }
    // If two entries have the same path, the last one would be installed, and other programs may show the first.
    if archive.has_duplicate_names() {
        return Err("The archive has two entries with the same path.".to_owned());
    }
    let (mut files, mut names, mut total) = (Vec::new(), HashSet::new(), 0);
    for index in 0..archive.len() {
        let entry = archive
            .by_index(index)
            .map_err(|_| "An entry of the archive is damaged, encrypted or of an unknown kind.")?;
        let name = entry.name().map_err(|_| "The name of an entry is not valid.")?.into_owned();
        if entry.is_dir() || is_left_over(&name) {
            continue;
        }
        let path = SkillPath::parse(&name).map_err(|problem| format!("The path {name:?} is refused: {problem}."))?;
        if entry.is_symlink() || entry.unix_mode().is_some_and(is_special) {
            return Err(format!("`{path}` is a link or a special file."));
        }
        // Some file systems do not tell such names apart.
        if !names.insert(path.as_str().nfc().collect::<String>().to_lowercase()) {
            return Err(format!("The archive has two files `{path}`."));
        }
        if files.len() == MAX_FILES {
            return Err(format!("The archive has more than {MAX_FILES} files."));
        }
        let content = content(entry, &path, MAX_UNPACKED - total)?;
        total += content.len() as u64;
        files.push((path, content));
    }
    if total > FREE_BYTES && total / MAX_RATIO > bytes.len() as u64 {
        return Err(format!("The files are more than {MAX_RATIO} times as large as the archive."));
    }
    let mut unpacked = below_its_folder(files)?;
    unpacked.files.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
    Ok(unpacked)
}

/// Reads an entry. Sizes that an archive states may be false, so what is unpacked is counted.
fn content(entry: ZipFile<'_, Cursor<&[u8]>>, path: &SkillPath, room: u64) -> Result<Vec<u8>, String> {
    let most = room.min(MAX_FILE);
    let mut content = Vec::new();
    // One byte more shows that there is more. At the end, the checksum is compared.
    entry.take(most + 1).read_to_end(&mut content).map_err(|_| format!("`{path}` is damaged."))?;
    if content.len() as u64 <= most {
        Ok(content)
    } else if most == MAX_FILE {
        Err(format!("`{path}` is larger than {} MB.", MAX_FILE >> 20))
    } else {
        Err(format!("The files are larger than {} MB together.", MAX_UNPACKED >> 20))
    }
}

/// Returns whether a Unix mode is that of a device, a pipe or another special file.
fn is_special(mode: u32) -> bool {
    // Archives that were written without a file type have 0.
    !matches!(mode & 0o170_000, 0 | 0o100_000)
}

/// Returns whether programs that pack archives add an entry on their own.
fn is_left_over(name: &str) -> bool {
    name.starts_with("__MACOSX/") || name.rsplit('/').next() == Some(".DS_Store")
}

/// Finds the one `SKILL.md`, and takes its folder off the paths.
fn below_its_folder(files: Vec<(SkillPath, Vec<u8>)>) -> Result<UnpackedArchive, String> {
    let is_skill = |path: &&SkillPath| SKILL_FILES.contains(&path.as_str().rsplit('/').next().unwrap_or_default());
    let found: Vec<_> = files.iter().map(|(path, _)| path).filter(is_skill).collect();
    let folder = match found[..] {
        [] => return Err("The archive has no SKILL.md.".to_owned()),
        [path] => path.as_str().rsplit_once('/').map(|(folder, _)| folder.to_owned()),
        [one, other, ..] => return Err(format!("The archive has more than one SKILL.md: `{one}` and `{other}`.")),
    };
    let Some(folder) = folder else { return Ok(UnpackedArchive { folder: None, files }) };
    if folder.contains('/') {
        return Err(format!("The SKILL.md is in `{folder}`. It must be at the top or in one folder."));
    }
    let inside = |(path, bytes): (SkillPath, Vec<u8>)| match path.as_str().strip_prefix(&format!("{folder}/")) {
        Some(rest) => Ok((SkillPath::parse(rest)?, bytes)),
        None => Err(format!("`{path}` is outside of the folder `{folder}` of the skill.")),
    };
    let files = files.into_iter().map(inside).collect::<Result<_, String>>()?;
    Ok(UnpackedArchive { folder: Some(folder), files })
}

#[cfg(test)]
pub(crate) mod testing {
    use std::io::{Cursor, Write};
    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    /// Packs files into an archive.
    pub(crate) fn pack(entries: &[(&str, &[u8])]) -> Vec<u8> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in entries {
            writer.start_file(*name, SimpleFileOptions::default()).unwrap();
            writer.write_all(bytes).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }
}

#[cfg(test)]
mod tests {
    use super::testing::pack;
    use super::*;
    use insta::assert_snapshot;
    use proptest::prelude::*;
    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    fn shown(archive: &[u8]) -> String {
        match unpack(archive) {
            Ok(UnpackedArchive { folder, files }) => {
                let files = files.iter().map(|(path, bytes)| format!("{path}:{}", bytes.len()));
                format!("{}| {}", folder.unwrap_or_default(), files.collect::<Vec<_>>().join(" "))
            }
            Err(reason) => reason,
        }
    }

    fn check(entries: &[(&str, &[u8])]) -> String {
        shown(&pack(entries))
    }

    #[test]
    fn skills_are_unpacked() {
        assert_snapshot!(check(&[("SKILL.md", b"x"), ("a/b.md", b"yy"), ("__MACOSX/._a", b""), (".DS_Store", b"")]), @"| SKILL.md:1 a/b.md:2");
        assert_snapshot!(check(&[("pdf/b.md", b"yy"), ("pdf/SKILL.md", b"x")]), @"pdf| SKILL.md:1 b.md:2");
    }

    #[test]
    fn refusals_have_reasons() {
        assert_snapshot!(shown(b"PK"), @"This is not a ZIP archive, or it is damaged.");
        assert_snapshot!(check(&[("a.md", b"")]), @"The archive has no SKILL.md.");
        assert_snapshot!(check(&[("SKILL.md", b""), ("a/skill.md", b"")]), @"The archive has more than one SKILL.md: `SKILL.md` and `a/skill.md`.");
        assert_snapshot!(check(&[("a/b/SKILL.md", b"")]), @"The SKILL.md is in `a/b`. It must be at the top or in one folder.");
        assert_snapshot!(check(&[("a/SKILL.md", b""), ("b.md", b"")]), @"`b.md` is outside of the folder `a` of the skill.");
        assert_snapshot!(check(&[("SKILL.md", b""), ("../a.md", b"")]), @r#"The path "../a.md" is refused: a path has no empty names and none that ends with a dot or a space."#);
        assert_snapshot!(check(&[("SKILL.md", b""), ("/etc/a", b"")]), @r#"The path "/etc/a" is refused: a path is relative, with `/` between its names, and has no control characters."#);
        assert_snapshot!(check(&[("SKILL.md", b""), ("a\\b", b"")]), @r#"The path "a\\b" is refused: a path is relative, with `/` between its names, and has no control characters."#);
        assert_snapshot!(check(&[("SKILL.md", b""), ("a.md", b""), ("A.md", b"")]), @"The archive has two files `A.md`.");
        let large = vec![0; MAX_FILE as usize + 1];
        assert_snapshot!(check(&[("SKILL.md", b""), ("a", &large)]), @"`a` is larger than 8 MB.");
        assert_snapshot!(check(&[("SKILL.md", b""), ("a", &large[1..]), ("b", &large[1..]), ("c", b"x")]), @"The files are larger than 16 MB together.");
        assert_snapshot!(check(&[("SKILL.md", b""), ("a", &large[..2 << 20])]), @"The files are more than 100 times as large as the archive.");
        let names: Vec<_> = (0..=MAX_FILES).map(|number| number.to_string()).collect();
        let many: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b""[..])).collect();
        assert_snapshot!(check(&many), @"The archive has more than 500 files.");
        assert_snapshot!(shown(&vec![0; MAX_ARCHIVE + 1]), @"The archive is larger than 10 MB.");
    }

    #[test]
    fn links_and_false_checksums_are_refused() {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        writer.add_symlink("a", "/etc/passwd", SimpleFileOptions::default()).unwrap();
        let linked = writer.finish().unwrap().into_inner();
        assert_snapshot!(shown(&linked), @"`a` is a link or a special file.");
        // The writer refuses a second entry with a path, so its name is changed in both of its places.
        let mut twice = pack(&[("SKILL.md", b"1"), ("SKILL.mb", b"2")]);
        while let Some(at) = twice.windows(8).position(|bytes| bytes == b"SKILL.mb") {
            twice[at + 7] = b'd';
        }
        assert_snapshot!(shown(&twice), @"The archive has two entries with the same path.");
        let composed = check(&[("SKILL.md", b""), ("\u{e9}.md", b""), ("e\u{301}.md", b"")]);
        assert!(composed.starts_with("The archive has two files"), "{composed}");
        let mut damaged = pack(&[("SKILL.md", b"0123456789")]);
        let at = damaged.windows(8).position(|bytes| bytes == b"SKILL.md").unwrap() + 8;
        damaged[at + 2] ^= 1;
        assert_snapshot!(shown(&damaged), @"`SKILL.md` is damaged.");
    }

    proptest! {
        #[test]
        fn damaged_archives_are_read_or_refused(at in 0_usize..400, bit in 0_u8..8) {
            let mut archive = pack(&[("a/SKILL.md", b"---\nname: a\n---\n"), ("a/b.md", b"text text text")]);
            let at = at % archive.len();
            archive[at] ^= 1 << bit;
            if let Ok(unpacked) = unpack(&archive) {
                prop_assert_eq!(unpacked.files.iter().filter(|(path, _)| path.as_str().ends_with("SKILL.md")).count(), 1);
            }
        }
    }
}
