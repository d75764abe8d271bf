//! Operators of similar systems that are not supported, and what to use instead.

/// Returns the replacement of an operator of other systems, if it is one of them.
pub fn instead_of(name: &str) -> Option<&'static str> {
    if let Some((_, instead)) = UNSUPPORTED.iter().find(|(known, _)| *known == name) {
        return Some(instead);
    }
    let (family, method) = name.split_once('.').filter(|_| crate::definition(name).is_none())?;
    match family {
        "_date" if method.starts_with("get") || method.starts_with("set") || method.starts_with("to") => Some(
            "server and browser may be in different time zones; use the method with `UTC` in its name, `_date.toISOString` or `_dayjs.format`",
        ),
        _ => UNSUPPORTED.iter().find(|(known, _)| *known == family).map(|(_, instead)| *instead),
    }
}

pub(crate) const UNSUPPORTED: &[(&str, &str)] = &[
    ("_actions", "use `_step` with the action's id"),
    ("_api", "give the action `CallEndpoint` an id and read `_step`, or keep its result with `SetState`"),
    ("_api_details", "give the action `CallEndpoint` an id and read `_step`"),
    ("_app", "write the value, or include a file with `_ref`"),
    ("_build", "the config is not computed when it is built; include files with `_ref`"),
    ("_change_case", "use `_string.toLowerCase`, `_string.toUpperCase` or `_template` with the filter `title`"),
    ("_credential", "use `_secret` in a connection"),
    ("_cron", "the `triggers` of a workflow start it at times, see docs/triggers.md"),
    ("_diff", "compare the values that matter with `_eq`"),
    ("_env", "use `_secret` in a connection, or include a file with `_ref`"),
    ("_event_log", "use `_event` and the results of earlier actions with `_step`"),
    ("_format", "use `_dayjs.format`, `_number.toFixed` or `_template`"),
    ("_global", "keep the value in the page's state, with `SetState` and `_state`"),
    ("_hash", "compute it in the service that an endpoint calls"),
    ("_hmac", "compute it in the service that an endpoint calls"),
    ("_i18n", "the section `locale` has the texts"),
    ("_index", "a function reads the index of its item as `__args: 1`"),
    ("_intl", "use `_number.toFixed` or `_dayjs.format`"),
    ("_js", "use `_expr`, or a function with operators; a page that needs more is written in Rust"),
    ("_jsonata", "use `_expr`"),
    ("_jst", "use `_template`"),
    ("_list_contexts", "a page has one state, which `_state` reads"),
    ("_locale", "the section `locale` sets the language"),
    ("_location", "use `_url_query` for the parameters of the address"),
    ("_log", "routines have the step `:log`"),
    ("_media", "blocks adapt to the width of the window themselves"),
    ("_menu", "write the links as blocks"),
    ("_module", "include files with `_ref`"),
    ("_moment", "use `_dayjs`"),
    ("_mql", "use `_expr`, or the operators of lists"),
    ("_number.MAX_VALUE", "write the number"),
    ("_number.MIN_VALUE", "write the number"),
    ("_number.NEGATIVE_INFINITY", "JSON has no such number; a result that is not finite is `null`"),
    ("_number.NaN", "JSON has no such number; a result that is not a number is `null`"),
    ("_number.POSITIVE_INFINITY", "JSON has no such number; a result that is not finite is `null`"),
    ("_number.isNaN", "JSON has no such number; test with `_type`"),
    ("_number.toLocaleString", "server and browser may have different languages; use `_number.toFixed`"),
    ("_nunjucks", "use `_template`"),
    ("_operator", "write the operator itself"),
    ("_organization", "use `_user`"),
    ("_path_params", "use `_url_query`"),
    ("_prop", "write the value itself"),
    ("_request", "give the action `CallEndpoint` an id and read `_step`, or keep its result with `SetState`"),
    ("_request_details", "give the action `CallEndpoint` an id and read `_step`"),
    ("_string.normalize", "server and browser may know different versions of Unicode; store texts normalized"),
    ("_t", "the section `locale` has the texts"),
    ("_theme", "the style sheet has the colours"),
    ("_uuid.v1", "use `_uuid.v4`"),
    ("_uuid.v3", "use `_uuid.v4`"),
    ("_uuid.v5", "use `_uuid.v4`"),
    ("_var", "include files with `_ref`"),
    ("_yaml", "use `_json`"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsupported_operators_name_what_to_use() {
        let check = |name: &str, part: &str| {
            let instead = instead_of(name).unwrap_or_default();
            assert!(instead.contains(part), "{name}: {instead}");
        };
        check("_global", "`_state`");
        check("_js", "`_expr`");
        check("_moment.format", "`_dayjs`");
        check("_build.array.map", "`_ref`");
        check("_date.getHours", "UTC");
        check("_number.NaN", "`null`");
        assert_eq!(instead_of("_array.nothing"), None);
        assert_eq!(instead_of("_dat"), None);
    }

    #[test]
    fn no_unsupported_operator_exists() {
        for (name, _) in UNSUPPORTED {
            assert!(crate::definition(name).is_none(), "{name}");
        }
    }
}
