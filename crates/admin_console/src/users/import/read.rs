//! Reads the CSV text of an import.

use crate::users::roles::parse_roles;

/// The most users of an import.
pub(super) const MAX_LINES: usize = 2_000;
/// The longest text in bytes.
pub(super) const MAX_TEXT: usize = 256 << 10;

/// A line of an import, as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// The number of the line in the text, from 1 on.
    pub(super) number: u64,
    pub(super) name: String,
    pub(super) roles: Vec<String>,
    /// The names of groups.
    pub(super) groups: Vec<String>,
}

/// Reads the lines after the one with the names of the columns: `name`, and perhaps `roles` and `groups`.
///
/// # Errors
/// The problem of the text as a whole, for people.
pub(super) fn read(text: &str) -> Result<Vec<Line>, String> {
    if text.len() > MAX_TEXT {
        return Err(format!("The text has more than {MAX_TEXT} bytes. Import it in parts."));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let first = text.lines().next().unwrap_or_default();
    // Spreadsheets of some countries write semicolons.
    let delimiter = if first.contains(';') && !first.contains(',') { b';' } else { b',' };
    let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).trim(csv::Trim::All).from_reader(text.as_bytes());
    let headers = reader.headers().map_err(|error| describe(&error, text))?.clone();
    let known = ["name", "roles", "groups"];
    if let Some(unknown) = headers.iter().find(|header| !known.iter().any(|known| known.eq_ignore_ascii_case(header))) {
        let unknown: String = unknown.chars().take(40).collect();
        return Err(format!("The first line names the columns: name, roles, groups. “{unknown}” is none of them."));
    }
    let column = |name: &str| headers.iter().position(|header| header.eq_ignore_ascii_case(name));
    let Some(name) = column("name") else {
        return Err("The first line names the columns, and “name” is missing.".to_owned());
    };
    let (roles, groups) = (column("roles"), column("groups"));
    let (mut lines, mut count) = (Vec::new(), LineCount::new(text));
    for record in reader.records() {
        let record = record.map_err(|error| describe(&error, text))?;
        if record.iter().all(str::is_empty) {
            continue;
        }
        if lines.len() == MAX_LINES {
            return Err(format!("There are more than {MAX_LINES} users. Import them in parts."));
        }
        let cell = |column: Option<usize>| column.and_then(|column| record.get(column)).unwrap_or_default();
        lines.push(Line {
            number: record.position().map_or(0, |position| count.at(position)),
            name: cell(Some(name)).to_owned(),
            roles: parse_roles(&cell(roles).replace(';', ",")),
            groups: group_names(cell(groups)),
        });
    }
    if lines.is_empty() { Err("There is no user in the text.".to_owned()) } else { Ok(lines) }
}

/// Reads names of groups, which are separated by semicolons: they may contain commas and spaces.
fn group_names(text: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in text.split(';').map(str::trim).filter(|name| !name.is_empty()) {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

/// Counts the lines of a text. The reader's own numbers are too small after `\r\n` and empty lines, which it skips
/// with the record after them.
struct LineCount<'t> {
    text: &'t str,
    /// How many bytes are counted.
    counted: usize,
    number: u64,
}

impl<'t> LineCount<'t> {
    fn new(text: &'t str) -> Self {
        Self { text, counted: 0, number: 1 }
    }

    /// Returns the number of the line at which a record begins; later calls are about later records.
    fn at(&mut self, position: &csv::Position) -> u64 {
        let begin = usize::try_from(position.byte()).unwrap_or(usize::MAX).min(self.text.len()).max(self.counted);
        let bytes = self.text.as_bytes();
        let skipped = bytes[begin..].iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        let breaks = bytes[self.counted..begin + skipped].iter().filter(|byte| **byte == b'\n').count();
        (self.counted, self.number) = (begin + skipped, self.number.saturating_add(breaks as u64));
        self.number
    }
}

fn describe(error: &csv::Error, text: &str) -> String {
    let line =
        error.position().map(|position| format!("Line {}: ", LineCount::new(text).at(position))).unwrap_or_default();
    match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("{line}there are {len} cells, and the first line has {expected_len}.")
        }
        _ => format!("{line}this is not CSV."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read() {
        let check = |text: &str, expected: &[(u64, &str, &str, &str)]| {
            let lines = read(text).unwrap();
            let found: Vec<_> = lines
                .iter()
                .map(|line| (line.number, line.name.as_str(), line.roles.join("|"), line.groups.join("|")))
                .collect();
            let expected: Vec<_> = expected
                .iter()
                .map(|(line, name, roles, groups)| (*line, *name, (*roles).to_owned(), (*groups).to_owned()))
                .collect();
            assert_eq!(found, expected, "{text}");
        };
        check("name\nada\nbob\n", &[(2, "ada", "", ""), (3, "bob", "", "")]);
        check(
            "\u{feff}Name,Roles,Groups\r\nada,editor admin,Support; Sales, Süd\r\n"
                .replace("Sales, Süd", "Sales")
                .as_str(),
            &[(2, "ada", "editor|admin", "Support|Sales")],
        );
        check(
            "groups,name\n\"Sales, EMEA;Support;Support\",ada\n\n,\n , \nx,bob\n",
            &[(2, "ada", "", "Sales, EMEA|Support"), (6, "bob", "", "x")],
        );
        check("name;roles;groups\nada;\"editor;admin\";\"A;B\"\n", &[(2, "ada", "editor|admin", "A|B")]);
        check("name,roles\n\"Lovelace, Ada\",\n", &[(2, "Lovelace, Ada", "", "")]);
        check("name\n\"a\nb\"\nc\n", &[(2, "a\nb", "", ""), (4, "c", "", "")]);
    }

    #[test]
    fn texts_that_cannot_be_read_are_refused() {
        let check = |text: &str, expected: &str| assert_eq!(read(text).unwrap_err(), expected, "{text:.60}");
        check("", "The first line names the columns, and “name” is missing.");
        check("roles\nx\n", "The first line names the columns, and “name” is missing.");
        check(
            "name,password\na,b\n",
            "The first line names the columns: name, roles, groups. “password” is none of them.",
        );
        check("name\n", "There is no user in the text.");
        check("name,roles\na,b\na,b,c\n", "Line 3: there are 3 cells, and the first line has 2.");
        check(&format!("name\n{}", "a\n".repeat(2_001)), "There are more than 2000 users. Import them in parts.");
        assert_eq!(read(&format!("name\n{}", "a\n".repeat(2_000))).unwrap().len(), 2_000);
        check(&format!("name\n{}", "a".repeat(MAX_TEXT)), "The text has more than 262144 bytes. Import it in parts.");
    }
}
