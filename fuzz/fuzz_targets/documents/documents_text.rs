//! Text formats and messages: the parts of any file are clean, within the limits and in order, and the chunks cover
//! them.
#![no_main]

use documents::{Limits, Source, SplitOptions, read, split};
use libfuzzer_sys::fuzz_target;

const NAMES: [&str; 8] = ["a.txt", "a.md", "a.html", "a.csv", "a.json", "a.rs", "a.eml", "a"];
const LIMITS: Limits = Limits {
    input_bytes: 1 << 20,
    unpacked_bytes: 1 << 20,
    output_bytes: 4_096,
    parts: 50,
    time: std::time::Duration::from_secs(10),
    memory_bytes: 1 << 30,
};

fuzz_target!(|given: (u8, u8, &[u8])| {
    let (format, size, bytes) = given;
    let source = Source { name: NAMES[usize::from(format) % NAMES.len()], media_type: None, bytes };
    let Ok(document) = read(&source, &LIMITS) else { return };
    assert!(!document.parts.is_empty() && document.parts.len() <= LIMITS.parts);
    assert!(document.parts.iter().map(|part| part.text.len()).sum::<usize>() <= LIMITS.output_bytes);
    for part in &document.parts {
        assert!(!part.text.trim().is_empty());
        assert!(!part.text.chars().any(|char| char.is_control() && char != '\n' && char != '\t'), "{part:?}");
    }
    let max_chars = usize::from(size) + 1;
    let options = SplitOptions { max_chars, min_chars: max_chars / 4, overlap_chars: max_chars / 8 };
    let mut covered = vec![String::new(); document.parts.len()];
    for chunk in split(&document, &options) {
        assert!(chunk.text.chars().count() <= max_chars, "{chunk:?}");
        let texts: Vec<_> =
            chunk.spans.iter().map(|span| &document.parts[span.part].text[span.range.clone()]).collect();
        assert_eq!(texts.join("\n\n"), chunk.text);
        for span in &chunk.spans {
            covered[span.part].push_str(&document.parts[span.part].text[span.range.clone()]);
        }
    }
    let letters = |text: &str| text.chars().filter(|char| char.is_alphanumeric()).count();
    for (part, covered) in document.parts.iter().zip(&covered) {
        assert!(letters(covered) >= letters(&part.text), "text is lost: {part:?}");
    }
});
