//! Workbooks. Cells are read one after another where the format allows it, since the used range of a
//! sheet can be larger than any memory with two cells in it.

use super::csv::warn_of_columns;
use crate::collector::Collector;
use crate::document::WarningCode;
use crate::table::{COLUMNS, TableWriter};
use crate::{Failure, FailureCode, Source};
use calamine::{
    Cell, Data, DataRef, DataType, ExcelDateTime, Reader, SheetVisible, Sheets, open_workbook_auto_from_rs,
};
use std::fmt::Display;
use std::io::Cursor;

/// The maximum number of sheets. Others are left out, with a warning.
const MAX_SHEETS: usize = 500;

type Workbook<'a> = Sheets<Cursor<&'a [u8]>>;

/// The row that is being read.
#[derive(Default)]
struct OpenRow {
    number: u32,
    cells: Vec<String>,
}

/// Adds the rows of all visible sheets.
pub(crate) fn read(source: &Source<'_>, collector: &mut Collector<'_>) -> Result<(), Failure> {
    let mut workbook = open_workbook_auto_from_rs(Cursor::new(source.bytes)).map_err(|error| {
        let is_encrypted = error.to_string().contains("password");
        let code = if is_encrypted { FailureCode::Encrypted } else { FailureCode::Damaged };
        Failure::new(code, source.name).with_detail(error)
    })?;
    let sheets = workbook.sheets_metadata().to_vec();
    let hidden = sheets.iter().filter(|sheet| sheet.visible != SheetVisible::Visible).count();
    if hidden > 0 {
        collector.warn(WarningCode::Skipped, format!("{hidden} hidden sheet(s) were not read."));
    }
    let visible = sheets.into_iter().filter(|sheet| sheet.visible == SheetVisible::Visible).map(|sheet| sheet.name);
    let mut failed = None;
    for (at, name) in visible.enumerate() {
        if collector.is_full() {
            break;
        }
        if at >= MAX_SHEETS {
            collector.warn(WarningCode::Skipped, format!("Only the first {MAX_SHEETS} sheets were read."));
            break;
        }
        if let Err(error) = read_sheet(&mut workbook, &name, collector) {
            // Charts and macros are sheets without cells.
            collector.warn(WarningCode::Skipped, format!("The sheet {name} could not be read: {error}."));
            failed = Some(error);
        }
    }
    if let (true, Some(error)) = (collector.is_empty(), failed) {
        return Err(Failure::new(FailureCode::Damaged, source.name).with_detail(error));
    }
    Ok(())
}

fn read_sheet(workbook: &mut Workbook<'_>, name: &str, collector: &mut Collector<'_>) -> Result<(), String> {
    let message = |error: &dyn Display| error.to_string();
    let mut table = TableWriter::new(collector, Some(name.to_owned()));
    let mut columns = 0;
    let mut row = OpenRow::default();
    let mut push = |table: &mut TableWriter<'_, '_>, position: (u32, u32), text: String| {
        let column = position.1 as usize;
        columns = columns.max(column + 1);
        row.push(table, position.0, column, text);
        !table.is_full()
    };
    match workbook {
        Sheets::Xlsx(workbook) => {
            let mut cells = workbook.worksheet_cells_reader(name).map_err(|error| message(&error))?;
            while let Some(cell) = cells.next_cell().map_err(|error| message(&error))? {
                if !push_cell(&mut table, &cell, &mut push) {
                    break;
                }
            }
        }
        Sheets::Xlsb(workbook) => {
            let mut cells = workbook.worksheet_cells_reader(name).map_err(|error| message(&error))?;
            while let Some(cell) = cells.next_cell().map_err(|error| message(&error))? {
                if !push_cell(&mut table, &cell, &mut push) {
                    break;
                }
            }
        }
        workbook => {
            let range = workbook.worksheet_range(name).map_err(|error| message(&error))?;
            let (top, left) = range.start().unwrap_or_default();
            for (at, column, value) in range.used_cells() {
                let position = (top.saturating_add(at as u32), left.saturating_add(column as u32));
                if !push(&mut table, position, text_of(value)) {
                    break;
                }
            }
        }
    }
    row.flush(&mut table);
    table.finish();
    warn_of_columns(collector, columns);
    Ok(())
}

fn push_cell(
    table: &mut TableWriter<'_, '_>,
    cell: &Cell<DataRef<'_>>,
    push: &mut impl FnMut(&mut TableWriter<'_, '_>, (u32, u32), String) -> bool,
) -> bool {
    match cell.get_value() {
        DataRef::Empty => true,
        value => push(table, cell.get_position(), text_of(&Data::from(value.clone()))),
    }
}

impl OpenRow {
    /// Adds a cell; a cell of another row ends this one.
    fn push(&mut self, table: &mut TableWriter<'_, '_>, row: u32, column: usize, text: String) {
        if row != self.number {
            self.flush(table);
            self.number = row;
        }
        if column < COLUMNS {
            if self.cells.len() <= column {
                self.cells.resize(column + 1, String::new());
            }
            self.cells[column] = text;
        }
    }

    fn flush(&mut self, table: &mut TableWriter<'_, '_>) {
        table.push(self.number.saturating_add(1), std::mem::take(&mut self.cells));
    }
}

/// Writes a value as people write it.
fn text_of(value: &Data) -> String {
    match value {
        Data::DateTime(date) => date_text(date),
        Data::Error(error) => error.to_string(),
        value => value.as_string().unwrap_or_else(|| value.to_string()),
    }
}

/// Writes a date, a time or both, depending on what the value has.
fn date_text(date: &ExcelDateTime) -> String {
    if date.is_duration() {
        let seconds = (date.as_f64() * 86_400.0).round();
        return format!(
            "{}:{:02}:{:02}",
            (seconds / 3_600.0) as i64,
            (seconds / 60.0) as i64 % 60,
            seconds as i64 % 60
        );
    }
    let (year, month, day, hour, minute, second, _) = date.to_ymd_hms_milli();
    let has_time = (hour, minute, second) != (0, 0, 0);
    // Below one day, there is a time only.
    match (date.as_f64() >= 1.0, has_time) {
        (false, _) => format!("{hour:02}:{minute:02}:{second:02}"),
        (true, true) => format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}"),
        (true, false) => format!("{year:04}-{month:02}-{day:02}"),
    }
}
