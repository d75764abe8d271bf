//! Follows each page of the documentation about a task (`docs/howto-*.md`), with the files that it contains.

mod checks;
mod page;

use page::{HowTo, names};

/// The maximum number of lines of a page.
const MAX_LINES: usize = 60;

/// Follows a page; a page without a check fails.
async fn check(page: &HowTo) {
    match page.name.as_str() {
        "howto-add-a-chat" => checks::chat(page).await,
        "howto-ask-before-paying" => checks::payment(page).await,
        "howto-run-on-postgresql" => checks::postgresql(page).await,
        "howto-search-a-handbook" => checks::handbook(page).await,
        "howto-start-a-workflow-by-webhook" => checks::webhook(page).await,
        other => panic!("`docs/{other}.md` has no check in this test"),
    }
}

#[tokio::test]
async fn pages_about_tasks_do_as_they_say() {
    let names = names();
    assert!(names.len() >= 5, "{names:?}");
    for name in names {
        let page = HowTo::read(&name);
        assert!(page.lines() <= MAX_LINES, "{name} has {} lines", page.lines());
        page.check_config();
        check(&page).await;
    }
}
