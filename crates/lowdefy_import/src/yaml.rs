//! The converted tree as what `config` writes.

use crate::tree::{Tree, Value};
use config::{YamlTree, YamlValue};

impl YamlTree for Tree {
    fn value(&self) -> YamlValue<'_, Self> {
        match &self.value {
            Value::Null | Value::Removed => YamlValue::Null,
            Value::Bool(value) => YamlValue::Bool(*value),
            Value::Number(number) => YamlValue::Number(number),
            Value::Text(text) => YamlValue::Text(text),
            Value::List(items) => YamlValue::List(items),
            Value::Map(entries) => {
                YamlValue::Map(entries.iter().map(|entry| (entry.key.as_str(), &entry.value)).collect())
            }
        }
    }

    fn comment(&self) -> &[String] {
        &self.comment
    }

    fn is_file(&self) -> bool {
        self.file.is_some()
    }
}
