//! Telegram: any update is read or ignored, and any text of a model becomes messages that Telegram accepts.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    channels::fuzz_update(bytes);
    if let Ok(markdown) = str::from_utf8(bytes) {
        channels::fuzz_markdown(markdown);
    }
});
