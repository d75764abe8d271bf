//! Minifies JavaScript by removing comments and indentation.

use anyhow::{Result, ensure};

/// Removes comments on lines of their own, empty lines, and indentation. This also applies to
/// multi-line strings, which are style sheets in our scripts and stay valid.
///
/// # Errors
/// Code follows a comment on the same line, or a comment is not terminated.
pub(super) fn minify(script: &str) -> Result<String> {
    let (mut light, mut in_comment) = (String::with_capacity(script.len()), false);
    for line in script.lines().map(str::trim) {
        if in_comment || line.starts_with("/*") {
            let end = line.find("*/");
            ensure!(end.is_none_or(|end| end + 2 == line.len()), "code after a comment on the same line: {line}");
            in_comment = end.is_none();
        } else if !line.is_empty() && !line.starts_with("//") {
            light.push_str(line);
            light.push('\n');
        }
    }
    ensure!(!in_comment, "unterminated comment");
    Ok(light)
}

#[cfg(test)]
mod tests {
    use super::minify;

    #[test]
    fn minify_keeps_code() {
        let check = |script: &str, expected: Option<&str>| assert_eq!(minify(script).ok().as_deref(), expected);
        check(
            "// why\nconst a = 1; // b\n\n  /** c\n   * d */\n  f(\"// no\");\n",
            Some("const a = 1; // b\nf(\"// no\");\n"),
        );
        check("/* a */\nb /* c */ d\n/*\ne\n*/ \nf", Some("b /* c */ d\nf\n"));
        check("/* a */ b", None);
        check("/* a\n */ b", None);
        check("/* a\nb", None);
    }
}
