//! The codecs of all providers: any bytes are decoded to parts or an error, and chunk boundaries do
//! not matter.
#![no_main]

use libfuzzer_sys::fuzz_target;
use providers::fuzz::{CODECS, read};

fuzz_target!(|data: &[u8]| {
    let [codec, size, rest @ ..] = data else { return };
    let codec = CODECS[usize::from(*codec) % CODECS.len()];
    // Lines become the data of events; otherwise the input is the stream itself.
    let stream: Vec<u8> = match size & 0x80 {
        0 => rest.split(|byte| *byte == b'\n').flat_map(|line| [&b"data: "[..], line, b"\n\n"].concat()).collect(),
        _ => rest.to_vec(),
    };
    let whole = read(codec, &[&stream]);
    let cut: Vec<_> = stream.chunks(usize::from(size & 0x7f) + 1).collect();
    let cut = read(codec, &cut);
    // Generated ids differ, so only the number of parts is compared.
    assert_eq!((whole.0.len(), whole.1.is_ok()), (cut.0.len(), cut.1.is_ok()), "{codec}");
    for part in &whole.0 {
        serde_json::to_string(part).expect("a part can be serialized");
    }
});
