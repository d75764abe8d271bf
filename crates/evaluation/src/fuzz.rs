//! The functions that the fuzz targets call.

use crate::dataset::read_cases;
use crate::definition::Evaluation;
use crate::import::{inspect_ai, promptfoo};
use crate::run::file::ResultsText;

/// Reads a dataset of each format, an evaluation, and the files of other tools.
pub fn fuzz_dataset(text: &str) {
    for name in ["cases.jsonl", "cases.csv", "cases.yaml"] {
        let _ = read_cases(name, text);
    }
    let _ = promptfoo("promptfooconfig.yaml", text, "helper");
    let _ = inspect_ai("samples.jsonl", text, "helper");
    let _ = Evaluation::parse("evaluation.yaml", text);
    let _ = Evaluation::with_scorers("name", "helper", text);
    let _ = ResultsText::parse(text);
}
