//! Scripts without what only people read.

use anyhow::{Result, ensure};

/// Leaves out comments that have lines of their own, empty lines, and what lines begin with; the same in texts of several lines, which are
/// styles in our scripts and take no harm.
///
/// # Errors
/// Code stands behind a comment, or a comment has no end.
pub(super) fn lighten(script: &str) -> Result<String> {
    let (mut light, mut in_comment) = (String::with_capacity(script.len()), false);
    for line in script.lines().map(str::trim) {
        if in_comment || line.starts_with("/*") {
            let end = line.find("*/");
            ensure!(end.is_none_or(|end| end + 2 == line.len()), "code behind a comment: {line}");
            in_comment = end.is_none();
        } else if !line.is_empty() && !line.starts_with("//") {
            light.push_str(line);
            light.push('\n');
        }
    }
    ensure!(!in_comment, "a comment has no end");
    Ok(light)
}

#[cfg(test)]
mod tests {
    use super::lighten;

    #[test]
    fn code_stays() {
        let check = |script: &str, expected: Option<&str>| assert_eq!(lighten(script).ok().as_deref(), expected);
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
