//! Feishu: any request and any frame of a long connection is decrypted or rejected, read or ignored, and can be stored.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| channels::fuzz_feishu(bytes));
