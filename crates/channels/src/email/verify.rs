//! Checks whether the receiving mail server has verified the sender of a mail (RFC 8601).

/// Returns whether a header `Authentication-Results` of the server says that the domain has authorized the mail: DMARC
/// has passed for it, or a signature (DKIM) of it or of a domain above it.
pub(super) fn is_verified(header: &str, server: &str, domain: &str) -> bool {
    let plain = without_comments(header);
    let mut parts = plain.split(';');
    let verifier = parts.next().and_then(|first| first.split_whitespace().next()).unwrap_or_default();
    verifier.eq_ignore_ascii_case(server) && parts.any(|part| is_passed(part, domain))
}

fn is_passed(part: &str, domain: &str) -> bool {
    let mut words = part.split_whitespace();
    let (method, rest) = (words.next().unwrap_or_default().to_ascii_lowercase(), words);
    let property = |name: &str| {
        rest.clone().find_map(|word| {
            let (key, value) = word.split_once('=')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim_matches('"').to_ascii_lowercase())
        })
    };
    match method.as_str() {
        "dmarc=pass" => property("header.from").is_some_and(|from| from == domain),
        "dkim=pass" => {
            let signer = property("header.d").or_else(|| {
                let identity = property("header.i")?;
                Some(identity.rsplit('@').next().unwrap_or_default().to_owned())
            });
            signer.is_some_and(|signer| covers(&signer, domain))
        }
        _ => false,
    }
}

/// Returns whether a domain is the other one or above it. The top one, such as `com`, speaks for nobody.
fn covers(above: &str, domain: &str) -> bool {
    let is_above = domain.strip_suffix(above).is_some_and(|rest| rest.ends_with('.'));
    above.contains('.') && (above == domain || is_above)
}

/// Returns a header without its comments, which are in parentheses. In quoted texts, which can be chosen by whoever has
/// sent the mail, escaped characters are left out, and those that would begin another result or property are replaced.
fn without_comments(header: &str) -> String {
    let (mut plain, mut depth, mut is_quoted) = (String::with_capacity(header.len()), 0_usize, false);
    let mut signs = header.chars();
    while let Some(sign) = signs.next() {
        match sign {
            '\\' if is_quoted || depth > 0 => {
                signs.next();
            }
            '"' if depth == 0 => {
                is_quoted = !is_quoted;
                plain.push(sign);
            }
            '(' if !is_quoted => depth += 1,
            ')' if !is_quoted && depth > 0 => depth -= 1,
            sign if is_quoted && (sign == ';' || sign.is_whitespace()) => plain.push('_'),
            sign if depth == 0 => plain.push(sign),
            _ => {}
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_results_of_the_configured_server_are_accepted() {
        let check = |header: &str, expected: bool| {
            assert_eq!(is_verified(header, "mx.corp.test", "mail.corp.test"), expected, "{header}");
        };
        check("mx.corp.test; dmarc=pass (p=NONE; x) header.from=mail.corp.test", true);
        check("MX.corp.test 1; spf=pass smtp.mailfrom=a.test; dkim=pass header.d=corp.test header.s=k", true);
        check("mx.corp.test; dkim=pass header.i=@mail.corp.test", true);
        check("mx.corp.test; dkim=pass header.d=\"mail.corp.test\"", true);
        check("mx.other.test; dmarc=pass header.from=mail.corp.test", false);
        check("mx.corp.test; dmarc=fail header.from=mail.corp.test", false);
        check("mx.corp.test; dmarc=pass header.from=evil.test", false);
        check("mx.corp.test; dmarc=pass", false);
        check("mx.corp.test; dkim=pass header.d=test", false);
        check("mx.corp.test; dkim=pass header.d=evilmail.corp.test", false);
        check("mx.corp.test; dkim=pass header.d=lcorp.test", false);
        check("mx.corp.test; spf=pass smtp.mailfrom=mail.corp.test", false);
        check("mx.corp.test; (dmarc=pass header.from=mail.corp.test) none", false);
        check("evil (mx.corp.test); dmarc=pass header.from=mail.corp.test", false);
        // The sender chooses the address of the envelope, and with it what is quoted or in a comment.
        check("mx.corp.test; spf=pass smtp.mailfrom=\"x; dmarc=pass header.from=mail.corp.test; \"@evil.test", false);
        check(r#"mx.corp.test; spf=pass smtp.mailfrom="\"; dmarc=pass header.from=mail.corp.test; "@evil.test"#, false);
        check(
            r"mx.corp.test; spf=pass (of \); dmarc=pass header.from=mail.corp.test; \() smtp.mailfrom=evil.test",
            false,
        );
        check("mx.corp.test; spf=pass smtp.mailfrom=\"a b\"@x.test; dmarc=pass header.from=mail.corp.test", true);
        check("", false);
    }
}
