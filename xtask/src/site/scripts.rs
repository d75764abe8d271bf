//! Scripts without what only people read.

/// Leaves out comments that have lines of their own, and what lines begin with. No text of several lines in our scripts has such lines.
pub(super) fn lighten(script: &str) -> String {
    let (mut light, mut in_comment) = (String::with_capacity(script.len()), false);
    for line in script.lines().map(str::trim) {
        let begins = in_comment || line.starts_with("/*");
        if begins {
            in_comment = !line.ends_with("*/");
        } else if !line.is_empty() && !line.starts_with("//") {
            light.push_str(line);
            light.push('\n');
        }
    }
    light
}

#[cfg(test)]
mod tests {
    use super::lighten;

    #[test]
    fn code_stays() {
        let check = |script: &str, expected: &str| assert_eq!(lighten(script), expected);
        check(
            "// why\nconst a = 1; // b\n\n  /** c\n   * d */\n  f(\"// no\");\n",
            "const a = 1; // b\nf(\"// no\");\n",
        );
        check("/* a */\nb /* c */ d\n/*\ne\n*/ \nf", "b /* c */ d\nf\n");
    }
}
