//! Discord: any frame of the Gateway is read or ignored, and can be stored.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| channels::fuzz_discord(bytes));
