//! The texts of attached documents that were read last. A script with the programs of the machine gets all files each
//! time, and reading a document may take seconds.

use bytes::Bytes;
use parking_lot::Mutex;
use std::collections::VecDeque;

/// The most bytes of all texts.
const MAX_BYTES: usize = 16 << 20;

/// Texts by the ids of the files, whose contents never change. The newest is the last one.
#[derive(Default)]
pub(crate) struct Texts(Mutex<VecDeque<(String, Bytes)>>);

impl Texts {
    /// Returns the text of a file. The caller has checked that the file is there.
    pub(crate) fn get(&self, file_id: &str) -> Option<Bytes> {
        let texts = self.0.lock();
        texts.iter().find(|(known, _)| known == file_id).map(|(_, text)| text.clone())
    }

    /// Keeps a text, and forgets the oldest ones if there is no room.
    pub(crate) fn keep(&self, file_id: &str, text: &Bytes) {
        let mut texts = self.0.lock();
        texts.retain(|(known, _)| known != file_id);
        texts.push_back((file_id.to_owned(), text.clone()));
        while texts.iter().map(|(_, text)| text.len()).sum::<usize>() > MAX_BYTES {
            texts.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_texts_are_forgotten() {
        let texts = Texts::default();
        let text = Bytes::from(vec![b'x'; MAX_BYTES / 2]);
        for id in ["one", "two", "two", "three"] {
            texts.keep(id, &text);
        }
        assert_eq!(["one", "two", "three"].map(|id| texts.get(id).is_some()), [false, true, true]);
        texts.keep("four", &Bytes::from(vec![b'x'; MAX_BYTES + 1]));
        assert!(texts.get("four").is_none());
    }
}
