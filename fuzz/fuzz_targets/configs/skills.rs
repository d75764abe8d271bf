//! Skills: any `SKILL.md` is read or rejected, and the text of it for a model has one beginning and one end. A path of
//! a file stays below the folder of its skill.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|given: (&str, &str)| {
    let (path, text) = given;
    skills::fuzz_skill(text, path);
});
