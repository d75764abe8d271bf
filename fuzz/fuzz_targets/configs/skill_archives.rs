//! Archives of skills: any archive is rejected with reasons, or its files are below the skill's folder and within the
//! bounds. Half of the inputs are the files of a valid archive.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::io::{Cursor, Write};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// Packs files; `None` if they have no valid names.
fn packed(files: &[(&str, &[u8])]) -> Option<Vec<u8>> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        writer.start_file(*name, SimpleFileOptions::default()).ok()?;
        writer.write_all(bytes).ok()?;
    }
    Some(writer.finish().ok()?.into_inner())
}

fuzz_target!(|given: (bool, &str, &[u8])| {
    let (is_packed, name, bytes) = given;
    if is_packed {
        let archive = packed(&[("a/SKILL.md", bytes), (name, b"x")]);
        archive.iter().for_each(|archive| skills::fuzz_archive(archive));
    } else {
        skills::fuzz_archive(bytes)
    }
});
