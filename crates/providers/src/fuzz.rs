//! The entry points for the fuzzer, which is a workspace of its own.

use crate::driver::{Codec, StreamReader};
use crate::parallel::ParallelExpander;
use crate::{anthropic, google, openai_chat, openai_responses};
use contract::{ModelError, Part};

/// The names of the codecs. The AI Gateway uses the codec of Chat Completions.
pub const CODECS: [&str; 4] = ["anthropic", "google", "openai_chat", "openai_responses"];

/// Decodes a stream that arrives in these chunks with the codec of this name.
pub fn read(codec: &str, pieces: &[&[u8]]) -> (Vec<Part>, Result<(), ModelError>) {
    match codec {
        "anthropic" => decode(anthropic::stream::MessagesCodec::default(), pieces),
        "google" => decode(google::stream::GeminiCodec::default(), pieces),
        "openai_chat" => decode(ParallelExpander::new(openai_chat::stream::ChatCodec::default(), &[]), pieces),
        _ => decode(ParallelExpander::new(openai_responses::stream::ResponsesCodec::default(), &[]), pieces),
    }
}

fn decode(codec: impl Codec, pieces: &[&[u8]]) -> (Vec<Part>, Result<(), ModelError>) {
    let (mut reader, mut parts) = (StreamReader::new(codec), Vec::new());
    let read = pieces.iter().try_for_each(|piece| reader.push(piece, &mut parts));
    let read = read.and_then(|()| reader.end(&mut parts));
    (parts, read)
}
