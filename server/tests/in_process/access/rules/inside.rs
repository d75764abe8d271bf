//! The rights of what runs for a caller.

use crate::access::*;

/// Routines, tools, hooks and sub-agents have the rights of the caller, not all that the config
/// allows.
#[tokio::test(flavor = "multi_thread")]
async fn routines_tools_hooks_and_sub_agents_have_the_callers_rights() {
    let routes = serve(&config()).await;
    for (name, is_authenticated, roles, expected) in CALLERS {
        let caller = caller((name, is_authenticated, roles));
        for ((kind, _), expected) in RULES.iter().zip(expected) {
            for id in [format!("e_{kind}"), format!("inner_{kind}")] {
                let done = format!(r#""done":"{id}""#);
                let via = post(format!("/api/endpoints/p_open/via_{id}"), json!({}));
                let (status, body) = call_route(&routes, &caller, via).await;
                // A routine that calls an unknown endpoint fails.
                assert_eq!(status, if expected == 404 { 500 } else { expected }, "{id}, {name}");
                assert_eq!(body.contains(&done), expected == 200, "{id}, {name}: {body}");

                let asked = send("p_open", &format!("t_{id}"), &format!("{name}-{id}"), "Search for refunds");
                let (status, stream) = call_route(&routes, &caller, asked).await;
                let says = match expected {
                    200 => done.as_str(),
                    401 => r#""errorText":"The user is not signed in.""#,
                    _ => r#""errorText":"There is no such endpoint.""#,
                };
                assert_eq!((status, stream.contains(says)), (200, true), "tool {id}, {name}: {stream}");
                assert_eq!(stream.contains(&done), expected == 200, "tool {id}, {name}: {stream}");
                let is_sent = stream.contains(r#""type":"data-hook""#);
                assert_eq!(is_sent, expected == 200, "hook {id}, {name}: {stream}");
            }
            let asked = send("p_open", &format!("above_{kind}"), &format!("{name}-above-{kind}"), "Search for refunds");
            let (status, stream) = call_route(&routes, &caller, asked).await;
            let handed = stream.contains(r#""toolName":"search_desk""#);
            assert_eq!((status, handed), (200, expected == 200), "agent below {kind}, {name}: {stream}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn policies_use_the_callers_rights() {
    let routes = serve(&config()).await;
    for (name, is_authenticated, roles, expected) in CALLERS {
        let caller = caller((name, is_authenticated, roles));
        let check = async |agent: String, runs: bool| {
            let asked = send("p_open", &agent, &format!("{name}-{agent}"), "Search for refunds");
            let (status, stream) = call_route(&routes, &caller, asked).await;
            let ran = stream.contains(r#""done":"e_open""#);
            assert_eq!((status, ran), (200, runs), "{agent}, {name}: {stream}");
        };
        for ((kind, _), expected) in RULES.iter().zip(expected) {
            check(format!("policy_e_{kind}"), expected == 200).await;
            check(format!("policy_inner_{kind}"), expected == 200).await;
        }
        check("policy_admin".to_owned(), name == "admin").await;
    }
}

/// The API key signs a platform in, but gives it no roles.
#[tokio::test(flavor = "multi_thread")]
async fn api_key_of_a_platform_grants_no_roles() {
    let schema = "{ type: object, properties: { query: { type: string, description: What. } } }";
    let served = "endpoints: [via_e_open, via_e_members, via_e_editors, via_inner_members], apiKey: { _secret: KEY }";
    let tool = format!("auth: public, description: Calls., payloadSchema: {schema}");
    let config = format!(
        "{}serveAsRemoteAgent: {{ {served} }}\n",
        config().replace("auth: public, routine", &format!("{tool}, routine"))
    );
    let routes = open(&config).await.routes();
    let check = async |tool: &str, expected: u16| {
        let request = Request::post(format!("/remote-agent/tools/{tool}")).header(header::HOST, "127.0.0.1");
        let request = request.header("x-api-key", KEY).body(Body::from("{}")).unwrap();
        assert_eq!(routes.clone().oneshot(request).await.unwrap().status().as_u16(), expected, "{tool}");
    };
    check("via_e_open", 200).await;
    check("via_e_members", 200).await;
    check("via_inner_members", 200).await;
    check("via_e_editors", 500).await;
    check("e_open", 404).await;
}
