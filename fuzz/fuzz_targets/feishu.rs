//! Feishu: whatever is sent as a request or as a frame of a long connection, it is opened or refused, read or ignored, and can
//! be stored.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| channels::fuzz_feishu(bytes));
