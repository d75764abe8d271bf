//! URLs below the base URL of a connection: a path or value that a model chooses cannot leave the
//! base.
#![no_main]

use libfuzzer_sys::fuzz_target;
use url::Url;

const BASES: [&str; 4] =
    ["https://host.test", "https://host.test/", "https://host.test/api/v1", "https://host.test/api/v1/?key=1"];

/// Returns whether a server that decodes up to three times finds a `.` or `..` segment: also one that removes control
/// characters, that ends paths at a NUL, `?`, `#` or `;`, or that reads full-width characters as those of ASCII.
fn has_dot_segment(path: &str) -> bool {
    let mut path = path.to_owned();
    for _ in 0..4 {
        let plain = path.replace('\u{FF0F}', "/").replace('\u{FF0E}', ".");
        let is_dots = |step: &str| {
            let step = step.split([';', '?', '#']).next().unwrap_or_default();
            let visible = step.replace(char::is_control, "");
            [step.split('\0').next().unwrap_or_default(), &visible].iter().any(|step| matches!(step.trim(), "." | ".."))
        };
        if plain.split(['/', '\\']).any(is_dots) {
            return true;
        }
        path = decoded(&path);
    }
    false
}

fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let hex = bytes.get(at + 1..at + 3).and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.filter(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit())) {
            Some(hex) if bytes[at] == b'%' => {
                out.push(u8::from_str_radix(hex, 16).unwrap_or_default());
                at += 3;
            }
            _ => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

fuzz_target!(|given: (u8, &str, &str)| {
    let (which, path, value) = given;
    let base: Url = BASES[usize::from(which) % BASES.len()].parse().expect("a base is a URL");
    let folder = format!("{}/", base.path().trim_end_matches('/'));
    let check = |url: &Url| {
        assert_eq!(url.origin(), base.origin(), "{url}");
        assert_eq!(url.query(), base.query(), "{url}");
        assert!(url.username().is_empty() && url.fragment().is_none(), "{url}");
        let inside = url.path().strip_prefix(&folder).or((url.path() == base.path()).then_some(""));
        let inside = inside.expect("the path is below the base");
        assert!(!has_dot_segment(inside), "{url}");
    };
    if let Ok(url) = egress::join_below(&base, path) {
        check(&url);
    }
    let Ok(step) = egress::encode_segment(value) else { return };
    assert!(step.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~%".contains(&byte)), "{step}");
    assert_eq!(decoded(&step), value);
    // A value is a single segment, also between other segments.
    let url = egress::join_below(&base, &format!("a/{step}/b")).expect("a segment is valid within a path");
    check(&url);
    assert_eq!(url.path(), format!("{folder}a/{step}/b"));
});
