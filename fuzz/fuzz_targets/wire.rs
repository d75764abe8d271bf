//! The reducer: any chunks result in a message that survives serialization.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::json::partial;
use wire::{Chunk, Reducer, Role, UiMessage};

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let mut reducer = Reducer::new(UiMessage::new("m", Role::Assistant));
    for line in text.lines() {
        let _ = partial::parse(line);
        if let Ok(chunk) = serde_json::from_str::<Chunk>(line) {
            let written = serde_json::to_string(&chunk).expect("a chunk can be serialized");
            let again: Chunk = serde_json::from_str(&written).expect("and parsed");
            assert_eq!(again, chunk);
            let _ = reducer.apply(&chunk);
        }
    }
    let message = reducer.into_message();
    let written = serde_json::to_string(&message).expect("a message can be serialized");
    let again: UiMessage = serde_json::from_str(&written).expect("and parsed");
    assert_eq!(serde_json::to_string(&again).expect("again"), written);
});
