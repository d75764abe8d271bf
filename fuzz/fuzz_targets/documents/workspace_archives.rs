//! Archives of containers: whatever a container sends as the files after a script, what is read of it is within the limits, and
//! below the folders of the conversation.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|given: (&[u8], Vec<(u8, Option<u64>, &str, &[u8])>)| {
    let (bytes, entries) = given;
    workspace::fuzz_archive(bytes, &entries);
});
