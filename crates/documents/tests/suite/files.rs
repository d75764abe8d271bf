//! Reads the files of `tests/files`, which other programs have written (`make.py`): their text, its order, headings and
//! tables.

use crate::{outline, parse};
use std::path::Path;

const TABLE: &str = "| Country | Days |\n| --- | --- |\n| France | 14 |\n| Japan | 30 |";

/// The files with texts of their outlines, in this order.
const FILES: &[(&str, &[&str])] = &[
    (
        "article.html",
        &[
            "Travel",
            "] Refunds\n# Refunds",
            "**thirty** days",
            "] Refunds > Exceptions\n",
            "| France  | 14   |",
            "1. Ask\n2. Pay",
        ],
    ),
    (
        "book.epub",
        &[
            "A small book",
            "[chapter 1] Arrival\n",
            "*late*",
            "- One bag\n- Two coats",
            "[chapter 2] Departure\n",
            "| France  | 14   |",
        ],
    ),
    (
        "columns.pdf",
        &[
            "[page 1]",
            "Left paragraph 1.",
            "Left paragraph 2.",
            "Left paragraph 3.",
            "Right paragraph 1.",
            "Right paragraph 3.",
        ],
    ),
    ("columns.pptx", &["[slide 1] Two columns\n# Two columns", "Left text", "Right text"]),
    ("data.json", &["{\n  \"country\": \"France\",\n  \"days\": [\n    14,\n    30\n  ]\n}"]),
    ("days.csv", &[TABLE]),
    ("formats.docx", &["Read the **important** and *quiet* parts", "\non a second line\tafter a tab."]),
    ("free.ods", &["] Days\n", TABLE, "] Meals\n", "| Meal |\n| --- |\n| Lunch |"]),
    ("grid.pdf", &["[page 1] Days by country\n# Days by country", "The hotel is booked", TABLE, "After the table."]),
    ("grid.pptx", &["[slide 1] Days by country\n# Days by country", TABLE]),
    ("hebrew.docx", &["] מדריך\n# מדריך", "הדלת ננעלת בשעה 22:00."]),
    ("hebrew.html", &["] מדריך\n# מדריך", "הדלת ננעלת בשעה 22:00."]),
    ("hebrew.pdf", &["[page 1]", "הדלת ננעלת בשעה מאוחרת"]),
    ("latin.txt", &["[lines 1–2] \nGrüße aus Köln.\nDie Straße ist schön."]),
    ("letters.pdf", &["Grüße aus Köln: Straße, naïve, 10 €, Ελληνικά и русский."]),
    // The bullets and numbers are in the styles of the paragraphs, and are lost.
    (
        "lists.docx",
        &[
            "] Checklist\n# Checklist",
            "Passport\n\n",
            "Ticket\n\n",
            "Book the flight\n\n",
            "Pay the fee\n\n",
            "After the lists.",
        ],
    ),
    ("lists.pdf", &["[page 1] Checklist\n# Checklist", "Passport", "Ticket", "After the list."]),
    (
        "mail.eml",
        &[
            "Grüße aus Köln",
            "From: Ada <ada@example.com>\n",
            "Attachments: days.csv",
            "The plain text.",
            "Attachments were not read: days.csv.",
        ],
    ),
    (
        "merged.docx",
        &[
            "] Shifts\n# Shifts",
            "| Day | Early | Late |",
            "| Monday | Ada<br>Bob |  |",
            "| Tuesday | Cy | Dee |",
            "End of the plan.",
        ],
    ),
    ("merged.xlsx", &["| Region | City |", "| North | Oslo |", "|  | Turku |"]),
    (
        "notes.md",
        &[
            "[lines 1–3] Refunds\n# Refunds",
            "Within thirty days.",
            "] Refunds > Exceptions\n",
            "| France | 14 |",
            "- Ask\n- Pay",
        ],
    ),
    ("old.xls", &["] Days\n", TABLE]),
    (
        "plan.pptx",
        &[
            "[slide 1] The plan\n",
            "First step",
            "Second step",
            "> Notes: Mention the budget.",
            "[slide 2] The goals\n",
            "Grow",
        ],
    ),
    ("program.py", &["[lines 1–2] \ndef days(country):\n    return 14"]),
    (
        "report.docx",
        &[
            "Travel report",
            "] Refunds\n# Refunds",
            "Within thirty days",
            "] Refunds > Exceptions\n## Exceptions",
            "None for meals.",
            TABLE,
            "] Contacts\n# Contacts",
            "Ask the front desk.",
        ],
    ),
    (
        "report.pdf",
        &[
            "Pdf: Refunds\n",
            "[page 1] Refunds\n# Refunds",
            "Within thirty days of the journey. The hotel is booked",
            "[page 2] Contacts\n# Contacts",
            "Ask the front desk.",
        ],
    ),
    ("semicolon.csv", &["| Country | Days |", "| France | 14 |\n| Österreich | 30 |"]),
    ("sheets.xlsx", &["] Days\n", TABLE, "] Prices\n", "| Lunch | 12.5 |", "1 hidden sheet(s) were not read."]),
    ("table.pdf", &["[page 1]", TABLE]),
    ("tabs.tsv", &[TABLE]),
    ("tracked.docx", &["The fee is twelve euros."]),
    ("values.xlsx", &["| Date | Sum | Done |", "| 2026-03-14 | 42 | true |"]),
    ("wide.pdf", &["[page 1] Landscape\n# Landscape", "A wide page. The hotel is booked"]),
];

#[test]
fn files_of_other_programs_are_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files");
    for (name, texts) in FILES {
        let shown = outline(&parse(name, &std::fs::read(folder.join(name)).unwrap()));
        let mut rest = shown.as_str();
        for text in *texts {
            let Some((_, after)) = rest.split_once(text) else {
                panic!("{name} has no {text:?} after the others:\n{shown}")
            };
            rest = after;
        }
    }
    let entries = std::fs::read_dir(&folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut found: Vec<_> = names.filter(|name| name != "make.py").collect();
    found.sort_unstable();
    let expected: Vec<_> = FILES.iter().map(|(name, _)| *name).collect();
    assert_eq!(found, expected);
}
