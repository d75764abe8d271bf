//! The content of stored files.

use bytes::Bytes;
use futures::stream::BoxStream;
use store::{Store, StoreError};

/// Streams the content of a file in chunks.
pub(super) fn pieces(store: Store, owner: String, id: String) -> BoxStream<'static, Result<Bytes, StoreError>> {
    Box::pin(async_stream::try_stream! {
        let mut no = 0;
        while let Some(piece) = store.file_piece(&owner, &id, no).await? {
            no += 1;
            yield piece;
        }
    })
}

/// Reads the whole content of a file.
pub(super) async fn read(store: &Store, owner: &str, id: &str) -> Result<Vec<u8>, StoreError> {
    let mut bytes = Vec::new();
    let mut no = 0;
    while let Some(piece) = store.file_piece(owner, id, no).await? {
        no += 1;
        bytes.extend_from_slice(&piece);
    }
    Ok(bytes)
}
