//! Encodings of texts: base64 and percent-encoding.

use crate::parameters::Kind::Text;
use crate::parameters::Parameters::One;
use crate::registry::Run::Plain;
use crate::registry::{Definition, operator};
use crate::{Arguments, meter};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::Value;

/// The characters that `encodeURIComponent` of JavaScript encodes.
const COMPONENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'!')
    .remove(b'~')
    .remove(b'*')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')');

pub(super) const OPERATORS: &[Definition] = &[
    operator!("_base64.decode", One(Text), Plain(from_base64), "The text of base64.", [r#""SGVsbG8=""# => r#""Hello""#]),
    operator!("_base64.encode", One(Text), Plain(to_base64), "The base64 of a text.", [r#""Hello""# => r#""SGVsbG8=""#]),
    operator!("_uri.decode", One(Text), Plain(decode), "The text of a part of an address.", [r#""a%20b%2Fc""# => r#""a b/c""#]),
    operator!("_uri.encode", One(Text), Plain(encode), "A text as a part of an address.",
        [r#""http://x.y/?a=b c""# => r#""http%3A%2F%2Fx.y%2F%3Fa%3Db%20c""#, r#""it's (é)!""# => r#""it's%20(%C3%A9)!""#]),
];

fn charged(text: String) -> Result<Value, String> {
    meter::charge_text(text.len())?;
    Ok(text.into())
}

fn from_base64(mut arguments: Arguments) -> Result<Value, String> {
    let bytes = STANDARD.decode(arguments.text(0).trim()).map_err(|_| "it is not base64".to_owned())?;
    String::from_utf8(bytes).map_err(|_| "it is the base64 of something that is not text".to_owned()).and_then(charged)
}

fn to_base64(mut arguments: Arguments) -> Result<Value, String> {
    charged(STANDARD.encode(arguments.text(0)))
}

fn decode(mut arguments: Arguments) -> Result<Value, String> {
    let text = arguments.text(0);
    let decoded = percent_decode_str(&text).decode_utf8();
    charged(decoded.map_err(|_| "it is not a part of an address".to_owned())?.into_owned())
}

fn encode(mut arguments: Arguments) -> Result<Value, String> {
    charged(utf8_percent_encode(&arguments.text(0), COMPONENT).to_string())
}
