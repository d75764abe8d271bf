//! The queue of background work in the admin console.

use crate::access::*;

/// The id of the recurring job of a kind, which is enqueued soon after the start.
async fn job_id(routes: &Router, admin: &Caller, kind: &str) -> String {
    loop {
        let (status, list) = call_route(routes, admin, get(format!("/api/admin/jobs?kind={kind}"))).await;
        assert_eq!(status, 200, "{list}");
        let list: Value = serde_json::from_str(&list).unwrap();
        if let Some(id) = list["items"][0]["id"].as_str() {
            assert_eq!((&list["items"][0]["state"], &list["items"][0]["known"]), (&json!("waiting"), &json!(true)));
            return id.to_owned();
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn administrators_cancel_and_retry_jobs_and_that_is_audited() {
    let routes = serve(&config()).await;
    let admin = caller(("boss", true, &["admin"]));
    // Due in ten minutes.
    let id = job_id(&routes, &admin, "chat.prune_journal").await;
    let act = async |action: &str| {
        call_route(&routes, &admin, post(format!("/api/admin/jobs/{id}/{action}"), json!({}))).await.0
    };
    assert_eq!(act("cancel").await, 204);
    assert_eq!(act("cancel").await, 409);
    let page = call_route(&routes, &admin, get("/admin/jobs?state=cancelled".to_owned())).await.1;
    assert!(page.contains("chat.prune_journal") && page.contains("Retry"), "{page}");
    assert_eq!(act("retry").await, 204);
    let page = call_route(&routes, &admin, get("/admin/jobs?kind=chat.prune_journal".to_owned())).await.1;
    assert!(page.contains("every 10 min") || page.contains("Running"), "{page}");
    let status = call_route(&routes, &admin, get("/api/admin/jobs/status".to_owned())).await.1;
    assert!(status.contains("chat.prune_journal"), "{status}");
    let file = call_route(&routes, &admin, get("/admin/jobs.csv?kind=chat.prune_journal".to_owned())).await.1;
    assert!(file.starts_with("\u{feff}id,kind,state") || file.contains("id,kind,state"), "{file}");

    let rows = call_route(&routes, &admin, get("/api/admin/audit?user=boss".to_owned())).await.1;
    let rows: Value = serde_json::from_str(&rows).unwrap();
    let rows = rows["items"].as_array().unwrap().iter();
    let seen: Vec<_> = rows
        .map(|row| (row["tool"].as_str().unwrap(), row["arguments"]["kind"].as_str().unwrap_or_default()))
        .collect();
    let kind = "chat.prune_journal";
    // A refused action leaves no row.
    assert_eq!(seen, [("admin:export_jobs", ""), ("admin:retry_job", kind), ("admin:cancel_job", kind)]);
}
