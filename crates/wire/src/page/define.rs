//! Defines the keys of the config that blocks and actions have. One list gives a Rust type, its
//! defaults, reading at run time and, with the feature `schema`, the JSON Schema by which `config`
//! checks and documents the keys.
//!
//! serde's derive would do the same, but its code for this many types would noticeably enlarge the
//! browser's download, and it rejects a whole object for one wrong value.

/// Returns the length of [`camel_case`].
pub(super) const fn camel_case_length(name: &str) -> usize {
    let (name, mut at, mut length) = (name.as_bytes(), 0, 0);
    while at < name.len() {
        length += (name[at] != b'_') as usize;
        at += 1;
    }
    length
}

/// Converts the name of a field or of a variant to the config's spelling, as serde's `camelCase`
/// does: `show_sources` to `showSources`, `ShiftEnter` to `shiftEnter`.
pub(super) const fn camel_case<const LENGTH: usize>(name: &str) -> [u8; LENGTH] {
    let (name, mut key, mut at, mut length) = (name.as_bytes(), [0; LENGTH], 0, 0);
    while at < name.len() {
        if name[at] != b'_' {
            key[length] = match at {
                0 => name[at].to_ascii_lowercase(),
                _ if name[at - 1] == b'_' => name[at].to_ascii_uppercase(),
                _ => name[at],
            };
            length += 1;
        }
        at += 1;
    }
    key
}

/// Returns the config's spelling of the name of a field or of a variant.
macro_rules! key {
    ($name:ident) => {{
        const NAME: &str = stringify!($name);
        const KEY: &[u8] = &$crate::page::define::camel_case::<{ $crate::page::define::camel_case_length(NAME) }>(NAME);
        const {
            match std::str::from_utf8(KEY) {
                Ok(key) => key,
                Err(_) => NAME,
            }
        }
    }};
}

/// Defines types whose fields are keys of the config.
///
/// - The key is the field's name in camel case; the doc comment is its documentation.
/// - `field: Type = default` may be left out. `field: Type` is required, unless it is an `Option`.
///   A value of a wrong type counts as left out.
/// - `#[schemars(…)]` describes a key that is written in another form than it is read, and bounds.
/// - `#[read(function)]` reads a value in another way than its type does; the function returns `None`
///   for a value of a wrong type.
/// - `#[text(field)]` before the struct: a text stands for a struct with this field.
/// - `#[then(function)]` before the struct: completes the value that was read.
macro_rules! properties {
    ($(
        $(#[doc = $doc:tt])*
        $(#[derive $derive:tt])?
        $(#[schemars $schema:tt])*
        $(#[text($text:ident)])?
        $(#[then($then:path)])?
        pub struct $name:ident {$(
            $(#[doc = $key_doc:tt])*
            $(#[schemars $key_schema:tt])*
            $(#[serde $key_serde:tt])*
            $(#[read($read:path)])?
            pub $field:ident: $type:ty $(= $default:expr)?,
        )*}
    )*) => {$(
        $(#[doc = $doc])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize)]
        $(#[derive $derive])?
        #[serde(rename_all = "camelCase")]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(default, transform = Self::finish_schema))]
        $(#[cfg_attr(feature = "schema", schemars $schema)])*
        pub struct $name {$(
            $(#[doc = $key_doc])*
            $(#[cfg_attr(feature = "schema", schemars $key_schema)])*
            $(#[serde $key_serde])*
            pub $field: $type,
        )*}

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: properties!(@default $($default)?)),* }
            }
        }

        impl $name {
            /// Reads the properties of a block or an action, or a part of them. A property that is absent or has a
            /// wrong type gets its default.
            pub fn read(own: &serde_json::Map<String, serde_json::Value>) -> Self {
                let default = Self::default();
                Self {$(
                    $field: $crate::page::property::read_key(
                        own,
                        $crate::page::define::key!($field),
                        properties!(@read $type $(, $read)?),
                        default.$field,
                    ),
                )*}
                .complete()
            }

            fn complete(self) -> Self {
                let read = self;
                $(let read = $then(read);)?
                read
            }

            #[cfg(feature = "schema")]
            fn finish_schema(schema: &mut schemars::Schema) {
                let required = [$(
                    ($crate::page::define::key!($field), properties!(@required $type $(, $default)?)),
                )*];
                $crate::page::schema::finish(schema, &required);
            }
        }

        impl $crate::page::property::Keys for $name {
            fn read_keys(own: &serde_json::Map<String, serde_json::Value>) -> Self {
                Self::read(own)
            }
        }

        /// `None` if a required key is absent.
        impl $crate::page::property::Property for $name {
            fn from_value(value: &serde_json::Value) -> Option<Self> {
                $(if !value.is_object() {
                    return Some(Self { $text: $crate::page::property::as_text(value)?, ..Self::default() }.complete());
                })?
                let own = value.as_object()?;
                $(properties!(@check own, $field, $type $(, $default)?);)*
                Some(Self::read(own))
            }
        }
    )*};
    (@default) => { Default::default() };
    (@default $default:expr) => { $default };
    (@read $type:ty) => { <$type as $crate::page::property::Property>::from_value };
    (@read $type:ty, $read:path) => { |value| $read(value).map(<$type>::from) };
    (@required $type:ty) => { <$type as $crate::page::property::Property>::absent().is_none() };
    (@required $type:ty, $default:expr) => { false };
    (@check $own:ident, $field:ident, $type:ty) => {
        match $own.get($crate::page::define::key!($field)) {
            Some(value) => drop(<$type as $crate::page::property::Property>::from_value(value)?),
            None => drop(<$type as $crate::page::property::Property>::absent()?),
        }
    };
    (@check $own:ident, $field:ident, $type:ty, $default:expr) => {};
}

/// Defines types with one of several names. A name is the variant's in camel case.
macro_rules! choices {
    ($(
        $(#[doc = $doc:tt])*
        $(#[derive $derive:tt])?
        $(#[schemars $schema:tt])*
        pub enum $name:ident {$(
            $(#[$attribute:meta])*
            $variant:ident,
        )*}
    )*) => {$(
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
        $(#[derive $derive])?
        #[serde(rename_all = "camelCase")]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        $(#[cfg_attr(feature = "schema", schemars $schema)])*
        pub enum $name {$(
            $(#[$attribute])*
            $variant,
        )*}

        impl $name {
            /// Returns the name in a config.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $crate::page::define::key!($variant),)*
                }
            }
        }

        impl $crate::page::property::Property for $name {
            fn from_value(value: &serde_json::Value) -> Option<Self> {
                let name = value.as_str()?;
                [$(Self::$variant),*].into_iter().find(|one| one.name() == name)
            }
        }
    )*};
}

/// Defines the types of blocks or of actions. The type of a variant has its properties or
/// parameters, which the config writes under the key `content`. `named` is the noun for messages,
/// `not_yet` lists types of the config language that are not supported yet. After the types comes
/// one that the config does not write.
macro_rules! types {
    (
        $(#[$attribute:meta])*
        pub enum $name:ident ($content:literal, named $noun:literal, not_yet $not_yet:expr) {$(
            $(#[doc = $doc:tt])*
            $variant:ident($properties:ty),
        )*}
        $($(#[doc = $unwritten_doc:tt])* and $unwritten:ident)?
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
        pub enum $name {$(
            $(#[doc = $doc])*
            $variant,
        )*$(
            $(#[doc = $unwritten_doc])*
            $unwritten,
        )?}

        impl $crate::read::Read for $name {
            fn read(value: serde_json::Value) -> Result<Self, $crate::read::Unreadable> {
                let name = <String as $crate::read::Read>::read(value)?;
                let known = [$((stringify!($variant), Self::$variant),)* $((stringify!($unwritten), Self::$unwritten))?];
                let known = known.into_iter().find(|(known, _)| *known == name);
                known.map(|(_, one)| one).ok_or_else(|| $crate::read::Unreadable::unknown_name(&name))
            }
        }

        $crate::read::deserialize_by_reading!($name);

        /// The keys `type` and that of the content.
        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let types = vec![$((
                    stringify!($variant),
                    concat!($($doc, "\n"),*),
                    generator.subschema_for::<$properties>(),
                )),*];
                let (noun, not_yet): (&str, &[&str]) = ($noun, &$not_yet);
                $crate::page::schema::tagged($content, types, noun, not_yet)
            }
        }
    };
}

pub(super) use {choices, key, properties, types};

#[cfg(test)]
#[expect(unreachable_pub, reason = "the macros define public types")]
mod tests {
    use crate::page::property::{Property, truthy};
    use serde_json::{Value, json};

    choices! {
        /// A side.
        pub enum Side {
            /// The near one.
            Near,
            /// The far one.
            FarAway,
        }
    }

    properties! {
        /// A thing with a name.
        #[derive(Eq)]
        #[text(name)]
        pub struct Item {
            /// Required.
            pub name: String,
            /// Optional.
            pub the_note: Option<String>,
            /// With a default.
            pub is_far: bool = true,
            /// A flag that may be computed.
            #[read(truthy)]
            pub on: bool = false,
            /// One of several names.
            pub side: Side = Side::Near,
            /// Others.
            pub others: Vec<Self> = Vec::new(),
        }
    }

    fn item(name: &str) -> Item {
        Item { name: name.to_owned(), ..Item::default() }
    }

    #[test]
    fn wrong_values_of_keys_are_replaced_by_their_defaults() {
        let check = |own: Value, expected: Item| assert_eq!(Item::read(own.as_object().unwrap()), expected, "{own}");
        check(json!({}), Item { is_far: true, ..item("") });
        check(json!({ "isFar": "no", "side": 7, "others": {} }), item(""));
        check(json!({ "isFar": null, "side": "nowhere", "on": null, "theNote": null }), item(""));
        check(json!({ "name": 7, "isFar": false, "on": "yes" }), Item { is_far: false, on: true, ..item("7") });
        check(
            json!({ "side": "farAway", "theNote": "" }),
            Item { side: Side::FarAway, the_note: Some(String::new()), ..item("") },
        );
        check(
            json!({ "others": ["a", {}, null, { "name": "b" }] }),
            Item { others: vec![item("a"), item("b")], ..item("") },
        );
    }

    #[test]
    fn parts_without_a_required_key_are_left_out() {
        assert_eq!(Item::from_value(&json!({ "isFar": false })), None);
        assert_eq!(Item::from_value(&json!({ "name": null })), None);
        assert_eq!(Item::from_value(&json!("a")), Some(item("a")));
        assert_eq!(Item::from_value(&json!(null)), None);
    }

    #[test]
    fn keys_are_spelled_as_serde_does() {
        let own = serde_json::to_value(item("a")).unwrap();
        let keys: Vec<_> = own.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys, ["name", "theNote", "isFar", "on", "side", "others"]);
        assert_eq!(key!(the_note), "theNote");
        assert_eq!(Side::FarAway.name(), "farAway");
        assert_eq!(serde_json::to_value(Side::FarAway).unwrap(), "farAway");
    }
}
