//! Sanitizes file names, which come from users and may be hostile.

use wire::file::without_hidden_characters;

/// The maximum length of a file name in characters.
pub(crate) const MAX_NAME: usize = 200;

/// Returns the last component of a path, without unsafe characters.
pub(crate) fn sanitize(given: &str) -> String {
    let last = given.rsplit(['/', '\\']).next().unwrap_or_default();
    let seen = without_hidden_characters(last);
    let clean: String = seen.chars().filter(|char| !char.is_control()).take(MAX_NAME).collect();
    // Strips dots and spaces alternately, since the result must not start with a dot.
    let clean = clean.trim_start_matches(|char: char| char == '.' || char.is_whitespace()).trim_end();
    if clean.is_empty() { "file".to_owned() } else { clean.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_file_names_are_sanitized() {
        let check = |given: &str, expected: &str| assert_eq!(sanitize(given), expected, "{given:?}");
        check("report.pdf", "report.pdf");
        check("../../etc/passwd", "passwd");
        check("C:\\Users\\ada\\a.txt", "a.txt");
        check(".htaccess", "htaccess");
        check(". .htaccess", "htaccess");
        check("a\r\nSet-Cookie: x", "aSet-Cookie: x");
        check("invoice\u{202e}fdp.exe", "invoicefdp.exe");
        check("a\u{200b}b\u{e0041}.txt", "ab.txt");
        for nothing in ["", ".", "..", "/", "  ", "\u{202e}"] {
            check(nothing, "file");
        }
        assert_eq!(sanitize(&"é".repeat(300)).chars().count(), MAX_NAME);
    }
}
