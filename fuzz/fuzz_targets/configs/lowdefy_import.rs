//! The import of Lowdefy apps: any app is refused with problems or becomes a valid config.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::collections::HashMap;
use std::sync::LazyLock;

static LANGUAGE: LazyLock<config::Language> = LazyLock::new(config::Language::default);

fuzz_target!(|text: &str| {
    // A second file, after a line that divides them, which the first one can include.
    let (main, other) = text.split_once("\n%%%\n").unwrap_or((text, ""));
    let files = [("lowdefy.yaml", main), ("a.yaml", other)];
    match lowdefy_import::import_embedded(&files, &LANGUAGE) {
        Ok(import) => {
            let env: HashMap<String, String> = import.secrets.iter().cloned().collect();
            let files: Vec<(&str, &str)> = import.files.iter().map(|file| (&*file.path, &*file.text)).collect();
            if let Err(problems) = config::load_embedded(&files, &env) {
                panic!("the result is no valid config: {}", config::render(&problems));
            }
        }
        Err(problems) => assert!(!problems.is_empty(), "refused without a problem"),
    }
});
