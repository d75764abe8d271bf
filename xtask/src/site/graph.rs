//! Which functions of a module lead to which others: by calls, by addresses that are taken, and by data that holds addresses. Read from
//! what the linker says about itself (`--emit-relocs`).

use anyhow::Result;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use wasmparser::{KnownCustom, Linking, Parser, Payload, RelocSectionReader, RelocationType, SymbolInfo};

/// A function by its index, or data by its symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Node {
    Function(u32),
    Data(u32),
}

/// What each function and each piece of data refers to.
pub(super) struct Graph(HashMap<Node, Vec<Node>>);

impl Graph {
    /// That of a module that was linked with `--emit-relocs`.
    pub(super) fn of(wasm: &[u8]) -> Result<Self> {
        let layout = Layout::of(wasm)?;
        let mut edges: HashMap<_, Vec<_>> = HashMap::new();
        for relocations in &layout.relocations {
            for entry in relocations.entries() {
                let entry = entry?;
                let Some(Some(to)) = layout.symbols.get(entry.index as usize) else { continue };
                // The type of an indirect call counts types, not symbols.
                if entry.ty == RelocationType::TypeIndexLeb {
                    continue;
                }
                for from in layout.around(relocations.section_index(), entry.offset.into()) {
                    edges.entry(from).or_default().push(*to);
                }
            }
        }
        Ok(Self(edges))
    }

    /// Those of `wanted` that lead to nothing but `known` functions and each other.
    pub(super) fn closed(&self, wanted: &BTreeSet<u32>, known: impl Fn(u32) -> bool) -> BTreeSet<u32> {
        let mut closed = wanted.clone();
        loop {
            let stays = |function: &u32| self.next(*function).iter().all(|next| known(*next) || closed.contains(next));
            let smaller: BTreeSet<_> = closed.iter().copied().filter(stays).collect();
            if smaller.len() == closed.len() {
                return closed;
            }
            closed = smaller;
        }
    }

    /// The functions that one leads to directly or through data.
    fn next(&self, function: u32) -> BTreeSet<u32> {
        let (mut functions, mut seen) = (BTreeSet::new(), BTreeSet::new());
        let mut open = vec![Node::Function(function)];
        while let Some(node) = open.pop() {
            for next in self.0.get(&node).into_iter().flatten() {
                match next {
                    Node::Function(index) => drop(functions.insert(*index)),
                    Node::Data(_) if seen.insert(*next) => open.push(*next),
                    Node::Data(_) => {}
                }
            }
        }
        functions
    }
}

/// Where things stand in a module.
#[derive(Default)]
struct Layout<'w> {
    /// What the entries of the linker's table of symbols stand for.
    symbols: Vec<Option<Node>>,
    relocations: Vec<RelocSectionReader<'w>>,
    /// The section of code, and its functions by where they begin in it.
    code: (u32, BTreeMap<u64, u32>),
    /// The section of data, and its symbols by where they begin in it, with their sizes.
    data: (u32, BTreeMap<u64, Vec<(u32, u64)>>),
}

impl<'w> Layout<'w> {
    fn of(wasm: &'w [u8]) -> Result<Self> {
        let mut layout = Self::default();
        let (mut imported, mut segments, mut defined) = (0, Vec::new(), Vec::new());
        let (mut section, mut code_start) = (0, 0);
        for payload in Parser::new(0).parse_all(wasm) {
            let payload = payload?;
            let is_section = payload.as_section().is_some();
            match payload {
                Payload::ImportSection(imports) => {
                    for import in imports.into_imports() {
                        imported += u32::from(matches!(import?.ty, wasmparser::TypeRef::Func(_)));
                    }
                }
                Payload::CodeSectionStart { range, .. } => {
                    layout.code.0 = section;
                    code_start = range.start;
                }
                Payload::CodeSectionEntry(body) => {
                    let index = imported + u32::try_from(layout.code.1.len())?;
                    layout.code.1.insert(body.range().start - code_start, index);
                }
                Payload::DataSection(all) => {
                    layout.data.0 = section;
                    let start = all.range().start;
                    for segment in all {
                        let segment = segment?;
                        segments.push(segment.range.end - u64::try_from(segment.data.len())? - start);
                    }
                }
                Payload::CustomSection(custom) => match custom.as_known() {
                    KnownCustom::Linking(linking) => layout.read_symbols(linking, &mut defined)?,
                    KnownCustom::Reloc(relocations) => layout.relocations.push(relocations),
                    _ => {}
                },
                _ => {}
            }
            section += u32::from(is_section);
        }
        for (symbol, segment, offset, size) in defined {
            if let Some(start) = segments.get(segment as usize) {
                layout.data.1.entry(start + offset).or_default().push((symbol, size));
            }
        }
        Ok(layout)
    }

    fn read_symbols(
        &mut self,
        linking: wasmparser::LinkingSectionReader<'_>,
        defined: &mut Vec<(u32, u32, u64, u64)>,
    ) -> Result<()> {
        for part in linking.subsections() {
            let Linking::SymbolTable(symbols) = part? else { continue };
            for (number, symbol) in (0..).zip(symbols) {
                self.symbols.push(match symbol? {
                    SymbolInfo::Func { index, .. } => Some(Node::Function(index)),
                    SymbolInfo::Data { symbol: Some(data), .. } => {
                        defined.push((number, data.index, data.offset.into(), data.size.into()));
                        Some(Node::Data(number))
                    }
                    _ => None,
                });
            }
        }
        Ok(())
    }

    /// What an address stands in: a function, or each piece of data that reaches as far.
    fn around(&self, section: u32, offset: u64) -> Vec<Node> {
        /// Pieces that share their bytes stand close together.
        const NEAR: usize = 32;
        if section == self.code.0 {
            return self
                .code
                .1
                .range(..=offset)
                .next_back()
                .map(|(_, index)| Node::Function(*index))
                .into_iter()
                .collect();
        }
        if section != self.data.0 {
            return Vec::new();
        }
        let before = self.data.1.range(..=offset).rev().take(NEAR);
        let reach = |(start, pieces): (&u64, &Vec<(u32, u64)>)| {
            let last = offset - start;
            pieces
                .iter()
                .filter(move |(_, size)| last < *size)
                .map(|(symbol, _)| Node::Data(*symbol))
                .collect::<Vec<_>>()
        };
        before.flat_map(reach).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leads_elsewhere_is_left_out_with_all_that_leads_to_it() {
        use Node::{Data, Function};
        // 1 → 2 → data → 9; 3 ⇄ 4; 5 → 0, which is known.
        let edges = [
            (Function(1), vec![Function(2)]),
            (Function(2), vec![Data(7)]),
            (Data(7), vec![Data(8)]),
            (Data(8), vec![Function(9), Data(7)]),
            (Function(3), vec![Function(4)]),
            (Function(4), vec![Function(3)]),
            (Function(5), vec![Function(0)]),
        ];
        let graph = Graph(HashMap::from(edges));
        let closed = graph.closed(&BTreeSet::from([1, 2, 3, 4, 5]), |function| function == 0);
        assert_eq!(closed, BTreeSet::from([3, 4, 5]));
    }
}
