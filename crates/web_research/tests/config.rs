//! Tests of the section of the config, and of its error messages.

use config::Language;
use insta::assert_snapshot;

/// Reads a config with these keys of an agent; returns its problems.
fn check(connections: &str, agent: &str) -> String {
    let language: Language = capability::language(&[web_research::DEFINITION]);
    let text = format!(
        "connections: [{{ id: demo, type: Demo }}, {connections}]\nagents:\n  - id: a\n    type: Agent\n    connectionId: demo\n    properties: {{ model: m }}\n{agent}\n"
    );
    match language.read_text(&text) {
        Ok((_, warnings)) => config::render(&warnings),
        Err(problems) => config::render_short(&problems),
    }
}

const ALL: &str = "{ id: own, type: SearXNG, properties: { url: 'http://search.lan', allowPrivate: true } }, \
    { id: brave, type: Brave, properties: { apiKey: k, costUsd: 0.003 } }, \
    { id: tavily, type: Tavily, properties: { apiKey: k, timeoutMs: 5000 } }, { id: exa, type: Exa, properties: { apiKey: k } }";

#[test]
fn all_keys_are_accepted() {
    let agent = "    webSearch: { connections: [own, brave, tavily, exa], maxResults: 8 }
    webFetch: { allow: ['*.example.com'], deny: [bad.example.com], followLinks: true, allowPrivate: false }";
    assert_snapshot!(check(ALL, agent), @"");
    assert_snapshot!(check(ALL, "    webFetch: {}"), @"");
    assert_snapshot!(check(ALL, "    webFetch: {}\n    web: optIn"), @"");
    assert_snapshot!(check(ALL, "    webSearch: { connections: [own] }\n    web: optOut"), @"");
}

#[test]
fn mistakes_are_named_with_their_position() {
    assert_snapshot!(check(ALL, "    webSearch: { connections: [demo, nowhere, own, own] }"), @r"
    chatwright.yaml:7:32: error: `demo` is a connection of the type Demo, which cannot be used here
       = help: use one of the type SearXNG, Brave, Tavily, Exa
    chatwright.yaml:7:38: error: there is no connection `nowhere`
       = help: one of `demo`, `own`, `brave`, `tavily` and `exa`
    chatwright.yaml:7:52: error: `own` is listed twice
    ");
    assert_snapshot!(check(ALL, "    web: optIn"), @r"
    chatwright.yaml:7:10: error: this agent does not use the web
       = help: add `webSearch`, `webFetch` or both, or leave out `web`
    ");
    assert_snapshot!(check(ALL, "    webFetch: {}\n    web: yes"), @r"
    chatwright.yaml:8:10: error: there is no value `yes`
       = help: one of `optIn` and `optOut`
    ");
    assert_snapshot!(check(ALL, "    webSearch: { connections: [] }"), @r"
    chatwright.yaml:7:31: error: expected a list of at least 1, found 0
    ");
    assert_snapshot!(check(ALL, "    webSearch: { connections: [own], maxResult: 3 }"), @r"
    chatwright.yaml:7:38: error: there is no key `maxResult` here
       = help: did you mean `maxResults`?
    ");
    assert_snapshot!(check(ALL, "    webFetch: { allow: ['https://example.com'], deny: ['a[b', ''] }"), @r"
    chatwright.yaml:7:25: error: `https://example.com` is not a host
       = help: a host has no scheme, port or path: docs.example.com, *.example.com
    chatwright.yaml:7:56: error: `a[b` is not a valid pattern: unclosed character class; missing ']'
    chatwright.yaml:7:63: error: `` is not a host
       = help: a host has no scheme, port or path: docs.example.com, *.example.com
    ");
    assert_snapshot!(check("{ id: own, type: SearXNG, properties: { url: 'http://search.lan' } }", ""), @r"
    chatwright.yaml:1:86: error: searches would be sent without encryption
       = help: write `https://`, or `allowPrivate: true` for a server of your own network
    ");
    assert_snapshot!(check("{ id: own, type: SearXNG, properties: { url: 'http://a:b@search.lan?x', allowPrivate: true } }", ""), @r"
    chatwright.yaml:1:86: error: the URL has only `https://`, a host and a path
    ");
    assert_snapshot!(check("{ id: b, type: Brave, properties: {} }", ""), @r"
    chatwright.yaml:1:63: error: `apiKey` is missing here
       = help: `apiKey`: The subscription token, best as `{ _secret: NAME_OF_A_VARIABLE }`.
    ");
}
