//! Panics that do not say where they were. Each place at which code may panic stands in the data with its file, line and column, and each
//! call of a panic names it: some thousands of small pieces, no two of them alike. All of them become one, which names none; what a panic says
//! stays, and the browser shows the functions that led to it.

use anyhow::Result;
use std::collections::BTreeSet;
use wasm_encoder::{CustomSection, Encode, RawSection, Section};
use wasmparser::{DataKind, KnownCustom, Linking, Operator, Parser, Payload, RelocationEntry, SymbolInfo};

/// The size of `core::panic::Location`: the address of a file's name and its length, the line, the column.
const SIZE: usize = 16;

/// The module, as it was linked, with one place instead of all.
pub(super) fn forgotten(wasm: &[u8]) -> Result<Vec<u8>> {
    let data = Data::of(wasm)?;
    let places: BTreeSet<_> = data.symbols.iter().filter(|symbol| data.is_place(symbol)).map(|it| it.number).collect();
    let Some(kept) = data.symbols.iter().find(|symbol| places.contains(&symbol.number)) else {
        return Ok(wasm.to_vec());
    };
    let mut wasm = wasm.to_vec();
    // The address stays, because no address is null.
    let start = data.segments[kept.segment].at + kept.offset;
    wasm[start + 4..start + SIZE].fill(0);
    retargeted(&wasm, |symbol| if places.contains(&symbol) { kept.number } else { symbol })
}

/// The module with other symbols in its relocations.
fn retargeted(wasm: &[u8], target: impl Fn(u32) -> u32) -> Result<Vec<u8>> {
    let mut module = wasm_encoder::Module::HEADER.to_vec();
    for payload in Parser::new(0).parse_all(wasm) {
        let payload = payload?;
        let Some((id, range)) = payload.as_section() else { continue };
        let data = &wasm[usize::try_from(range.start)?..usize::try_from(range.end)?];
        let relocations = match &payload {
            Payload::CustomSection(custom) => match custom.as_known() {
                KnownCustom::Reloc(relocations) => Some((custom.name(), relocations)),
                _ => None,
            },
            _ => None,
        };
        let Some((name, relocations)) = relocations else {
            module.push(id);
            RawSection { id, data }.encode(&mut module);
            continue;
        };
        let mut content = Vec::new();
        relocations.section_index().encode(&mut content);
        let entries = relocations.entries().into_iter().collect::<Result<Vec<_>, _>>()?;
        u32::try_from(entries.len())?.encode(&mut content);
        entries.into_iter().for_each(|entry| write(entry, &target, &mut content));
        let section = CustomSection { name: name.into(), data: content.into() };
        section.append_to(&mut module);
    }
    Ok(module)
}

fn write(entry: RelocationEntry, target: &impl Fn(u32) -> u32, to: &mut Vec<u8>) {
    use wasmparser::RelocationType::TypeIndexLeb;
    to.push(entry.ty as u8);
    entry.offset.encode(to);
    // The type of an indirect call counts types, not symbols.
    let index = if entry.ty == TypeIndexLeb { entry.index } else { target(entry.index) };
    index.encode(to);
    match entry.ty.addend_kind() {
        wasmparser::RelocAddendKind::None => {}
        _ => entry.addend.encode(to),
    }
}

/// What stands in the memory from the start, and the linker's names for it.
#[derive(Default)]
struct Data<'w> {
    segments: Vec<Segment<'w>>,
    symbols: Vec<Symbol>,
}

struct Segment<'w> {
    address: usize,
    /// Where its content begins in the file.
    at: usize,
    content: &'w [u8],
}

struct Symbol {
    number: u32,
    segment: usize,
    offset: usize,
    size: usize,
}

/// Where a segment stands in the memory; nowhere, if the code decides.
fn address(kind: &DataKind<'_>) -> Result<usize> {
    let DataKind::Active { offset_expr, .. } = kind else { return Ok(usize::MAX) };
    match offset_expr.get_operators_reader().read()? {
        Operator::I32Const { value } => Ok(usize::try_from(value)?),
        _ => Ok(usize::MAX),
    }
}

impl<'w> Data<'w> {
    fn of(wasm: &'w [u8]) -> Result<Self> {
        let mut data = Self::default();
        for payload in Parser::new(0).parse_all(wasm) {
            match payload? {
                Payload::DataSection(segments) => {
                    for segment in segments {
                        let segment = segment?;
                        let at = usize::try_from(segment.range.end)? - segment.data.len();
                        data.segments.push(Segment { address: address(&segment.kind)?, at, content: segment.data });
                    }
                }
                Payload::CustomSection(custom) => {
                    let KnownCustom::Linking(linking) = custom.as_known() else { continue };
                    for part in linking.subsections() {
                        let Linking::SymbolTable(symbols) = part? else { continue };
                        for (number, symbol) in (0..).zip(symbols) {
                            data.add(number, symbol?)?;
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(data)
    }

    fn add(&mut self, number: u32, symbol: SymbolInfo<'_>) -> Result<()> {
        if let SymbolInfo::Data { symbol: Some(defined), .. } = symbol {
            let (segment, size) = (usize::try_from(defined.index)?, usize::try_from(defined.size)?);
            self.symbols.push(Symbol { number, segment, offset: usize::try_from(defined.offset)?, size });
        }
        Ok(())
    }

    fn is_place(&self, symbol: &Symbol) -> bool {
        let content =
            self.segments.get(symbol.segment).and_then(|it| it.content.get(symbol.offset..symbol.offset + SIZE));
        let number = |at: usize| {
            let bytes = content?.get(at..at + 4)?.try_into().ok()?;
            usize::try_from(u32::from_le_bytes(bytes)).ok()
        };
        let place = || -> Option<bool> {
            let file = self.read(number(0)?, number(4)?)?;
            Some(file.ends_with(b".rs") && (1..100_000).contains(&number(8)?) && (1..1_000).contains(&number(12)?))
        };
        symbol.size == SIZE && place().unwrap_or(false)
    }

    fn read(&self, address: usize, length: usize) -> Option<&'w [u8]> {
        self.segments.iter().find_map(|segment| {
            let offset = address.checked_sub(segment.address)?;
            segment.content.get(offset..offset.checked_add(length)?)
        })
    }
}
