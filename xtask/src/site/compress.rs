//! `.br` and `.gz` beside each file, made once so that no request pays for it.

use super::files::{for_each, is_copy, with_ending};
use anyhow::Result;
use brotli::enc::BrotliEncoderParams;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

/// Other kinds are compressed already.
const COMPRESSIBLE: &[&str] = &["wasm", "bin", "js", "css", "svg", "html", "txt", "json"];

/// Adds the copies that are missing, and says how much is downloaded.
pub(super) fn add(site: &Path) -> Result<()> {
    let mut sizes = BTreeMap::new();
    for_each(site, &mut |file| {
        if !file.extension().is_some_and(|ending| COMPRESSIBLE.iter().any(|known| ending == *known)) {
            return Ok(());
        }
        let (original, small) = compress(file)?;
        let name = file.strip_prefix(site)?.display().to_string();
        eprintln!("  {original:>9} bytes, {small:>8} as brotli  {name}");
        sizes.insert(name, small);
        Ok(())
    })?;
    super::figures::print(site, &sizes)
}

/// Removes every copy.
pub(super) fn remove(site: &Path) -> Result<()> {
    for_each(site, &mut |file| match is_copy(file) {
        true => Ok(std::fs::remove_file(file)?),
        false => Ok(()),
    })
}

/// Makes both copies of a file, unless they are there; answers with the sizes of the file and of its smaller copy.
fn compress(file: &Path) -> Result<(usize, usize)> {
    let content = std::fs::read(file)?;
    let (brotli, gzip) = (with_ending(file, "br"), with_ending(file, "gz"));
    if let (Ok(known), true) = (std::fs::metadata(&brotli), gzip.exists()) {
        return Ok((content.len(), usize::try_from(known.len())?));
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&content)?;
    std::fs::write(gzip, encoder.finish()?)?;
    let mut small = Vec::new();
    let parameters = BrotliEncoderParams { quality: 11, lgwin: 22, size_hint: content.len(), ..Default::default() };
    brotli::BrotliCompress(&mut content.as_slice(), &mut small, &parameters)?;
    std::fs::write(brotli, &small)?;
    Ok((content.len(), small.len()))
}
