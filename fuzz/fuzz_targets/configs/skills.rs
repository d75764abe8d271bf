//! Skills: whatever a `SKILL.md` says, it is read or refused, and what a model reads of it has one beginning
//! and one end. A path of a file stays below the folder of its skill.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|given: (&str, &str)| {
    let (path, text) = given;
    skills::fuzz_skill(text, path);
});
