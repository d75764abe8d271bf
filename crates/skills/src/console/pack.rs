//! Packs a skill into an archive of the standard form: one folder with its name, which has the `SKILL.md`.
//! The same files give the same bytes.

use std::io::{Cursor, Write};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// Packs the files of a skill, by their paths below its folder. It takes processor time.
///
/// # Errors
/// The archive cannot be written.
pub(crate) fn pack(name: &str, files: &[(String, Vec<u8>)]) -> Result<Vec<u8>, String> {
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated).unix_permissions(0o644);
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let failed = |error: &dyn std::fmt::Display| format!("the archive cannot be written: {error}");
    for (path, bytes) in files {
        writer.start_file(format!("{name}/{path}").as_str(), options).map_err(|error| failed(&error))?;
        writer.write_all(bytes).map_err(|error| failed(&error))?;
    }
    Ok(writer.finish().map_err(|error| failed(&error))?.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::install::prepare;

    #[test]
    fn a_packed_skill_can_be_installed_and_has_the_same_files() {
        let skill = b"---\nname: greet\ndescription: Use it to greet.\n---\nSay hello.\n".to_vec();
        let files = [("SKILL.md".to_owned(), skill), ("references/a.md".to_owned(), b"Hello.".repeat(1_000))];
        let packed = pack("greet", &files).unwrap();
        assert_eq!(pack("greet", &files).unwrap(), packed);
        let new = prepare(&packed).unwrap();
        assert_eq!(new.skill.name, "greet");
        let read: Vec<_> = new.files.into_iter().map(|file| (file.path.to_string(), file.bytes)).collect();
        assert_eq!(read, files);
    }
}
