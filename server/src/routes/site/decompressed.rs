//! The files of which the site has only compressed copies, decompressed for clients that accept no
//! encoding, such as a proxy that compresses by itself.

use crate::EmbeddedFile;
use bytes::Bytes;
use flate2::read::GzDecoder;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::io::Read;

/// The total size of the files that are kept, in bytes: more than a whole site has. While the site
/// is developed, its files also change.
const MAX_KEPT: usize = 16 << 20;

/// Decompressed files, by the hash of their compressed copies: each is decompressed once.
static KEPT: Mutex<Option<HashMap<[u8; 32], Bytes>>> = Mutex::new(None);

/// Returns the content of a file that is compressed with gzip.
pub(super) fn content(file: &EmbeddedFile) -> std::io::Result<Bytes> {
    let hash = file.metadata.sha256_hash();
    if let Some(known) = KEPT.lock().as_ref().and_then(|kept| kept.get(&hash)) {
        return Ok(known.clone());
    }
    let mut content = Vec::new();
    GzDecoder::new(&*file.data).read_to_end(&mut content)?;
    let content = Bytes::from(content);
    let mut kept = KEPT.lock();
    let kept = kept.get_or_insert_default();
    if kept.values().map(Bytes::len).sum::<usize>() + content.len() > MAX_KEPT {
        kept.clear();
    }
    kept.insert(hash, content.clone());
    Ok(content)
}
