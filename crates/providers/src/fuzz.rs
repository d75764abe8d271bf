//! A door to the codecs for the fuzzer, which lives in a workspace of its own.

use crate::driver::{Codec, Reader};
use crate::parallel::Expanding;
use crate::{anthropic, google, openai_chat, openai_responses};
use contract::{ModelError, Part};

/// The codecs by name. The gateway speaks that of Chat Completions.
pub const CODECS: [&str; 4] = ["anthropic", "google", "openai_chat", "openai_responses"];

/// What the codec with this name makes of a stream that comes in these pieces.
pub fn read(codec: &str, pieces: &[&[u8]]) -> (Vec<Part>, Result<(), ModelError>) {
    match codec {
        "anthropic" => whole(anthropic::stream::Reader::default(), pieces),
        "google" => whole(google::stream::Reader::default(), pieces),
        "openai_chat" => whole(Expanding::new(openai_chat::stream::Reader::default(), &[]), pieces),
        _ => whole(Expanding::new(openai_responses::stream::Reader::default(), &[]), pieces),
    }
}

fn whole(codec: impl Codec, pieces: &[&[u8]]) -> (Vec<Part>, Result<(), ModelError>) {
    let (mut reader, mut parts) = (Reader::new(codec), Vec::new());
    let read = pieces.iter().try_for_each(|piece| reader.bytes(piece, &mut parts));
    let read = read.and_then(|()| reader.end(&mut parts));
    (parts, read)
}
