//! HTML's names of characters (`&copy;`), a chunk of their own. The parser of Markdown has a table of 2,125 of them, a twentieth of all that a
//! conversation loads, and few texts have a single one. The table is the parser's own, read by a function that every text needs. So that
//! function is led to an empty table, and the chunk `entities` to the parser's, which it copies there: `app/src/markdown/entities.rs` has
//! both places.

use anyhow::{Context, Result, ensure};
use wasm_encoder::{CustomSection, Encode, RawSection, Section};
use wasmparser::RelocationType::TypeIndexLeb;
use wasmparser::{
    DataKind, KnownCustom, Linking, Operator, Parser, Payload, RelocAddendKind, RelocationEntry, SymbolInfo,
};

/// The pieces of an entry: the address of its name and the name's length, the address of its value and the value's length.
const ENTRY: usize = 16;
/// The name with which the table begins.
const FIRST: &[u8] = b"AElig";
/// In the linker's names of the chunk's two places: where the parser is led, and where the chunk reads what it copies there.
const PLACES: [[&str; 2]; 2] = [["entities", "ROOM"], ["entities", "TABLE"]];

/// The module, as it was linked, whose table of names belongs to nothing but the chunk.
pub(super) fn apart(wasm: &[u8]) -> Result<Vec<u8>> {
    let data = Data::of(wasm)?;
    let [room, placeholder] = PLACES.map(|name| data.named(&name).with_context(|| name.join(" of ")));
    let (room, placeholder) = (room?, placeholder?);
    let table = data.symbols.iter().find(|symbol| data.is_table(symbol)).context("the parser's table of names")?;
    ensure!(table.size == room.size, "the parser's table takes {} bytes, its place {}", table.size, room.size);
    with_targets(wasm, |symbol| match symbol {
        symbol if symbol == table.number => room.number,
        symbol if symbol == placeholder.number => table.number,
        symbol => symbol,
    })
}

/// The module with other symbols in its relocations.
fn with_targets(wasm: &[u8], target: impl Fn(u32) -> u32) -> Result<Vec<u8>> {
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
    to.push(entry.ty as u8);
    entry.offset.encode(to);
    // The type of an indirect call counts types, not symbols.
    let index = if entry.ty == TypeIndexLeb { entry.index } else { target(entry.index) };
    index.encode(to);
    match entry.ty.addend_kind() {
        RelocAddendKind::None => {}
        _ => entry.addend.encode(to),
    }
}

/// What stands in the memory from the start, and the linker's names for it.
#[derive(Default)]
struct Data<'w> {
    segments: Vec<Segment<'w>>,
    symbols: Vec<Symbol<'w>>,
}

struct Segment<'w> {
    address: usize,
    content: &'w [u8],
}

struct Symbol<'w> {
    name: &'w str,
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
                        data.segments.push(Segment { address: address(&segment.kind)?, content: segment.data });
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

    fn add(&mut self, number: u32, symbol: SymbolInfo<'w>) -> Result<()> {
        if let SymbolInfo::Data { symbol: Some(defined), name, .. } = symbol {
            let (segment, size) = (usize::try_from(defined.index)?, usize::try_from(defined.size)?);
            self.symbols.push(Symbol { name, number, segment, offset: usize::try_from(defined.offset)?, size });
        }
        Ok(())
    }

    /// The one whose name has all of these in it.
    fn named(&self, parts: &[&str]) -> Option<&Symbol<'w>> {
        self.symbols.iter().find(|symbol| parts.iter().all(|part| symbol.name.contains(part)))
    }

    /// What begins with an entry for the first name.
    fn is_table(&self, symbol: &Symbol<'_>) -> bool {
        let first = || {
            let content = self.segments.get(symbol.segment)?.content;
            let entry = content.get(symbol.offset..symbol.offset.checked_add(symbol.size)?)?.get(..ENTRY)?;
            let number = |bytes: &[u8]| Some(u32::from_le_bytes(bytes.try_into().ok()?) as usize);
            self.read(number(&entry[..4])?, number(&entry[4..8])?)
        };
        symbol.size.is_multiple_of(ENTRY) && first() == Some(FIRST)
    }

    fn read(&self, address: usize, length: usize) -> Option<&'w [u8]> {
        self.segments.iter().find_map(|segment| {
            let offset = address.checked_sub(segment.address)?;
            segment.content.get(offset..offset.checked_add(length)?)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wasm_encoder::{ConstExpr, DataSection, DataSymbolDefinition, LinkingSection, Module, SymbolTable as Symbols};

    const ADDRESS: u32 = 1_024;

    /// A name, a table with one entry for it, and places of these sizes; relocations lead to the table and to the second place.
    fn module(name: &[u8; 5], sizes: [u32; 2]) -> Vec<u8> {
        let (mut data, mut symbols, mut linking) = (DataSection::new(), Symbols::new(), LinkingSection::new());
        let entry = [ADDRESS, 5, ADDRESS, 5].map(u32::to_le_bytes).concat();
        let content = [&name[..], &[0; 11], &entry, &[0; 64]].concat();
        data.active(0, &ConstExpr::i32_const(ADDRESS.cast_signed()), content);
        let all = [
            (".Lanon.1", 0, 5),
            (".Lanon.2", 16, 16),
            ("app::markdown::entities::place::ROOM", 32, sizes[0]),
            ("app::markdown::entities::place::TABLE", 64, sizes[1]),
        ];
        for (name, offset, size) in all {
            symbols.data(0, name, Some(DataSymbolDefinition { index: 0, offset, size }));
        }
        linking.symbol_table(&symbols);
        // Of section 0, two: of an address as a signed number, at 7 and at 9, the second four bytes behind its symbol.
        let relocations = [0, 2, 4, 7, 1, 0, 4, 9, 3, 4];
        let relocations = CustomSection { name: "reloc.CODE".into(), data: relocations.as_slice().into() };
        let mut module = Module::new();
        module.section(&data).section(&linking).section(&relocations);
        module.finish()
    }

    /// Which symbols the relocations of a module lead to.
    fn targets(wasm: &[u8]) -> Result<Vec<(u32, i64)>> {
        let mut targets = Vec::new();
        for payload in Parser::new(0).parse_all(wasm) {
            let Payload::CustomSection(custom) = payload? else { continue };
            if let KnownCustom::Reloc(relocations) = custom.as_known() {
                for entry in relocations.entries() {
                    let entry = entry?;
                    targets.push((entry.index, entry.addend));
                }
            }
        }
        Ok(targets)
    }

    #[test]
    fn the_parser_is_led_to_the_empty_table_and_the_chunk_to_the_full_one() -> Result<()> {
        assert_eq!(targets(&module(b"AElig", [16, 16]))?, [(1, 0), (3, 4)]);
        assert_eq!(targets(&apart(&module(b"AElig", [16, 16]))?)?, [(2, 0), (1, 4)]);
        // A parser with another table is told, and not built in some way.
        assert!(apart(&module(b"AElig", [32, 32])).is_err_and(|error| error.to_string().contains("16 bytes")));
        assert!(apart(&module(b"Aacut", [16, 16])).is_err());
        assert!(apart(&Module::new().finish()).is_err());
        Ok(())
    }
}
