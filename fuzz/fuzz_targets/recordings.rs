//! Files of recordings: what is read is written in a form that is read as the same, and can be compared.
#![no_main]

use libfuzzer_sys::fuzz_target;
use recordings::format::{read, write};
use recordings::report::{Style, compare, terminal};

fuzz_target!(|file: &[u8]| {
    let Ok(recordings) = read(file) else { return };
    let mut written = Vec::new();
    for recording in &recordings {
        write(recording, &mut written).expect("memory can be written");
        let comparison = compare(recording, recording, &[], 1);
        assert_eq!(comparison.findings().count(), 0);
        assert!(!terminal(&comparison, Style::Plain).is_empty());
    }
    assert_eq!(read(&*written).expect("it was written here"), recordings);
});
