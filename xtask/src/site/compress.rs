//! Compresses files ahead of time: `.br` and `.gz` next to each file, so that the server need not
//! compress.

use super::files::{for_each, is_compressed_copy, with_ending};
use anyhow::Result;
use brotli::enc::BrotliEncoderParams;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

/// The extensions of files that are worth compressing. The only JSON is the manifest, which the
/// server reads.
const COMPRESSIBLE: &[&str] = &["wasm", "bin", "js", "mjs", "css", "svg", "html", "txt"];

/// Adds the missing compressed copies and prints the download sizes.
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
    super::sizes::print(site, &sizes)
}

/// Removes all compressed copies.
pub(super) fn remove(site: &Path) -> Result<()> {
    for_each(site, &mut |file| if is_compressed_copy(file) { Ok(std::fs::remove_file(file)?) } else { Ok(()) })
}

/// Writes both compressed copies of a file, unless they exist. Returns the sizes of the file and of
/// its Brotli copy.
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
