//! Every provider's codec: any bytes are parts or a failure, however they are cut.
#![no_main]

use libfuzzer_sys::fuzz_target;
use providers::fuzz::{CODECS, read};

fuzz_target!(|data: &[u8]| {
    let [codec, size, rest @ ..] = data else { return };
    let codec = CODECS[usize::from(*codec) % CODECS.len()];
    // Lines of a recording, which stand for the events of a stream; or the stream itself.
    let stream: Vec<u8> = match size & 0x80 {
        0 => rest.split(|byte| *byte == b'\n').flat_map(|line| [&b"data: "[..], line, b"\n\n"].concat()).collect(),
        _ => rest.to_vec(),
    };
    let whole = read(codec, &[&stream]);
    let cut: Vec<_> = stream.chunks(usize::from(size & 0x7f) + 1).collect();
    let cut = read(codec, &cut);
    // Ids that were made up differ.
    assert_eq!((whole.0.len(), whole.1.is_ok()), (cut.0.len(), cut.1.is_ok()), "{codec}");
    for part in &whole.0 {
        serde_json::to_string(part).expect("a part can be written");
    }
});
