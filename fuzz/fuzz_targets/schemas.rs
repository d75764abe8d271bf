//! Schemas: any schema with any instance is refused or checked, and ends within the budget (the fuzzer stops at an input that takes longer).
#![no_main]

use libfuzzer_sys::fuzz_target;
use schemas::Schema;
use serde_json::Value;

fuzz_target!(|text: &str| {
    // Two documents behind each other: the schema, and what is checked with it.
    let mut documents = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let (Some(Ok(schema)), Some(Ok(instance))) = (documents.next(), documents.next()) else { return };
    if let Ok(schema) = Schema::new(&schema) {
        let _ = schema.check_here(&instance, 5);
    }
    let _ = schema.as_str().map(schemas::is_regular_expression);
});
