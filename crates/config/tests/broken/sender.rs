use super::pages::page;
use crate::check;

#[test]
fn composer_settings_are_checked() {
    let sender = |sender: &str| {
        page(&format!("      - {{ id: chat, type: AgentChat, properties: {{ agentId: helper, sender: {sender} }} }}"))
    };
    assert!(check(&sender("{ attachments: { enabled: true, accept: ['image/*', .csv] } }")).starts_with("accepted"));
    assert!(check(&sender("{ submitType: return }")).contains("there is no submit type `return`"));
    let wrong = check(&sender(
        "{ switches: [{ key: a }, { key: a }], commands: [{ name: a b, text: c }], attachments: { accept: 'image, .pdf' } }",
    ));
    let switched = check(&sender("{ attachments: true }"));
    assert!(switched.contains("= help: write `{ enabled: true }`"), "{switched}");
    for (size, bytes) in [("20MB", "20000000"), ("20 MiB", "20971520")] {
        let limits = check(&format!("limits: {{ fileBytes: {size} }}\n"));
        assert!(limits.contains(&format!("= help: write the number of bytes: `{bytes}`")), "{limits}");
        let most = check(&sender(&format!("{{ attachments: {{ enabled: true, maxSize: {size} }} }}")));
        assert!(most.contains(&format!("= help: write the number of bytes: `{bytes}`")), "{most}");
    }
    for said in [
        "the switch `a` is there twice",
        "`a b` cannot be a command",
        "`image` is no kind of files",
        "write `.csv`, `image/png` or `image/*`",
    ] {
        assert!(wrong.contains(said), "{said}: {wrong}");
    }
}

#[test]
fn upload_settings_are_checked() {
    let attachments = |own: &str| {
        let sender = format!("{{ attachments: {{ enabled: true, {own} }} }}");
        let block =
            format!("      - {{ id: chat, type: AgentChat, properties: {{ agentId: helper, sender: {sender} }} }}");
        let api = "api:\n  - { id: sign, routine: [{ ':return': x }] }\n  - { id: files/sign, routine: [{ ':return': x }] }\n  - { id: inner, type: InternalApi, routine: [{ ':return': x }] }\n";
        check(&format!("{api}{}", page(&block)))
    };
    let site = "uploadOrigin: 'https://b.example'";
    let right = attachments(&format!("uploadPolicyRequestId: sign, downloadPolicyRequestId: sign, {site}"));
    assert!(right.starts_with("accepted"), "{right}");
    let grouped =
        attachments(&format!("uploadPolicyRequestId: files/sign, downloadPolicyRequestId: files/sign, {site}"));
    assert!(grouped.starts_with("accepted"), "{grouped}");
    for (own, said) in [
        ("uploadPolicyRequestId: sign".to_owned(), "`uploadPolicyRequestId` needs `uploadOrigin`"),
        (site.to_owned(), "`uploadOrigin` needs `uploadPolicyRequestId`"),
        ("downloadPolicyRequestId: sign".to_owned(), "`downloadPolicyRequestId` needs `uploadPolicyRequestId`"),
        (format!("uploadPolicyRequestId: sing, {site}"), "did you mean `sign`?"),
        (format!("uploadPolicyRequestId: inner, {site}"), "the endpoint `inner` is internal, so no page can call it"),
        ("uploadPolicyRequestId: sign, uploadOrigin: 'https://b.example/x'".to_owned(), "write `https://b.example`"),
        ("s3PostPolicyRequestId: sign".to_owned(), "not available in this version"),
    ] {
        let found = attachments(&own);
        assert!(found.contains(said), "{own}: {found}");
    }
}
