//! The results in the format of JUnit, which build servers read.

use crate::run::results::CaseResult;
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};
use std::io;

/// Writes the results: a suite for each config, a test for each case and repetition.
///
/// # Errors
/// Only if a text cannot be written, which does not happen in memory.
pub fn junit(evaluation: &str, configs: &[String], results: &[CaseResult]) -> io::Result<String> {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    writer
        .create_element("testsuites")
        .with_attribute(("name", clean(evaluation).as_str()))
        .write_inner_content(|writer| configs.iter().try_for_each(|config| suite(writer, config, results)))?;
    let mut xml = writer.into_inner();
    xml.push(b'\n');
    String::from_utf8(xml).map_err(io::Error::other)
}

fn suite(writer: &mut Writer<Vec<u8>>, config: &str, results: &[CaseResult]) -> io::Result<()> {
    let own: Vec<_> = results.iter().filter(|result| result.config == config).collect();
    let count = |is_counted: &dyn Fn(&&&CaseResult) -> bool| own.iter().filter(is_counted).count().to_string();
    let seconds: f64 = own.iter().map(|result| result.seconds).sum();
    writer
        .create_element("testsuite")
        .with_attribute(("name", clean(config).as_str()))
        .with_attribute(("tests", count(&|_| true).as_str()))
        .with_attribute(("failures", count(&|result| !result.passed && result.error.is_none()).as_str()))
        .with_attribute(("errors", count(&|result| result.error.is_some()).as_str()))
        .with_attribute(("time", format!("{seconds:.3}").as_str()))
        .write_inner_content(|writer| own.iter().try_for_each(|result| test(writer, config, result)))?;
    Ok(())
}

fn test(writer: &mut Writer<Vec<u8>>, config: &str, result: &CaseResult) -> io::Result<()> {
    let name = if result.repeat == 0 { result.case.clone() } else { format!("{} #{}", result.case, result.repeat + 1) };
    let test = writer
        .create_element("testcase")
        .with_attribute(("classname", clean(config).as_str()))
        .with_attribute(("name", clean(&name).as_str()))
        .with_attribute(("time", format!("{:.3}", result.seconds).as_str()));
    let failed = result.scores.iter().filter(|score| !score.passed);
    let reasons: Vec<_> = failed.map(|score| format!("{}: {}", score.scorer, score.reason)).collect();
    let (kind, message, text) = match &result.error {
        Some(error) => ("error", error.clone(), String::new()),
        None if !result.passed => {
            ("failure", reasons.join("; "), format!("{}\n\n{}", reasons.join("\n"), result.answer))
        }
        None => return test.write_empty().map(drop),
    };
    test.write_inner_content(|writer| {
        let failure = writer.create_element(kind).with_attribute(("message", clean(&message).as_str()));
        failure.write_text_content(BytesText::new(&clean(&text))).map(drop)
    })?;
    Ok(())
}

/// Returns a text without the characters that XML does not allow.
fn clean(text: &str) -> String {
    let is_allowed =
        |c: char| matches!(c, '\t' | '\n' | '\r') || !c.is_control() && !matches!(c, '\u{fffe}' | '\u{ffff}');
    text.chars().map(|c| if is_allowed(c) { c } else { ' ' }).collect()
}
