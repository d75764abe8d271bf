//! Files of recordings: what is read is written in a form that is read as the same, and can be compared. Replies of
//! providers in a file are read in the same way a second time.
#![no_main]

use libfuzzer_sys::fuzz_target;
use recordings::format::{AnyFile, read, read_any, write};
use recordings::report::{Style, compare, terminal};

fuzz_target!(|file: &[u8]| {
    let recordings = match read_any(file, None) {
        Ok(AnyFile::Recordings(recordings)) => recordings,
        Ok(AnyFile::Reply(reply)) => {
            let lines: Vec<_> = reply.events.iter().map(|event| event.replace('\n', "")).collect();
            // The comment tells that it is no file of recordings.
            let again = read_any(format!(":\n{}", lines.join("\n")).as_bytes(), Some(reply.api));
            assert!(matches!(again, Ok(AnyFile::Reply(again)) if again.events == lines));
            return;
        }
        Err(_) => return,
    };
    let mut written = Vec::new();
    for recording in &recordings {
        write(recording, &mut written).expect("memory can be written");
        let comparison = compare(recording, recording, &[], 1);
        assert_eq!(comparison.findings().count(), 0);
        assert!(!terminal(&comparison, Style::Plain).is_empty());
    }
    assert_eq!(read(&*written).expect("it was written here"), recordings);
});
