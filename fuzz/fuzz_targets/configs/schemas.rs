//! JSON Schemas: any schema and instance are rejected or checked within the budget. The fuzzer
//! reports inputs that take longer.
#![no_main]

use libfuzzer_sys::fuzz_target;
use schemas::Schema;
use serde_json::Value;

fuzz_target!(|text: &str| {
    // Two consecutive documents: the schema and the instance.
    let mut documents = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let (Some(Ok(schema)), Some(Ok(instance))) = (documents.next(), documents.next()) else { return };
    if let Ok(schema) = Schema::new(&schema) {
        let _ = schema.check_blocking(&instance, 5);
    }
    let _ = schema.as_str().map(schemas::is_regular_expression);
});
