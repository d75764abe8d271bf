//! Measures rankings on a collection with known answers: `documents.jsonl`, `queries.jsonl`, `qrels.tsv`.
//!
//! With the variable `BENCH_FIGURES`, the figures are also written into that file, as tables for the program `bench`.

use retrieval::{ChunkText, Expansion, Hit, Index, Latent, LatentOptions, Query, Vectors, fuse, latent_weight};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

fn lines(folder: &str, name: &str) -> Vec<Value> {
    let text = fs::read_to_string(format!("{folder}/{name}")).unwrap();
    text.lines().filter(|line| !line.is_empty()).map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn gain(grades: &[f64]) -> f64 {
    grades.iter().take(10).zip(2..).map(|(grade, rank)| grade / f64::from(rank).log2()).sum()
}

fn main() {
    let mut tables: Vec<_> = std::env::args().skip(1).map(|folder| measure(&folder)).collect();
    tables.push(measure_large());
    if let Some(file) = std::env::var_os("BENCH_FIGURES") {
        fs::write(file, Value::from(tables).to_string()).unwrap();
    }
}

/// Makes up numbers from 0 to 1, always the same ones (xorshift64*).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 40) as f32 / (1_u64 << 24) as f32
    }
}

/// Searches 100,000 chunks by words and by vectors of 384 numbers, as a library with an embeddings model.
fn measure_large() -> Value {
    const CHUNKS: usize = 100_000;
    const DIMENSIONS: usize = 384;
    let mut random = Random(1);
    // Words are as rare as in texts: their frequency falls with their rank.
    let text = |random: &mut Random, words: usize| {
        (0..words).map(|_| format!("w{}", 50_000_f32.powf(random.next()) as u32)).collect::<Vec<_>>().join(" ")
    };
    let mut index = Index::default();
    for number in 0..CHUNKS / 10 {
        let bodies: Vec<_> = (0..10).map(|_| text(&mut random, 150)).collect();
        let chunks: Vec<_> = bodies.iter().map(|body| ChunkText { heading: "", body }).collect();
        index.add(&number.to_string(), &chunks);
    }
    let queries: Vec<_> = (0..200).map(|_| text(&mut random, 8)).collect();
    let mut vector = || (0..DIMENSIONS).map(|_| random.next() - 0.5).collect::<Vec<f32>>();
    let expansion = Some(Expansion::for_index(&index));
    let mut rows = Vec::new();
    for (kind, expected) in [("vectors as they are", CHUNKS), ("compressed vectors", CHUNKS + 1)] {
        let mut vectors = Vectors::new(DIMENSIONS, expected);
        (0..CHUNKS as u32).for_each(|slot| vectors.set(slot, &vector()));
        let mut times: Vec<_> = queries
            .iter()
            .map(|query| {
                let question = vector();
                let start = Instant::now();
                index.search(&Query::new(&index, query), 100, None, expansion);
                let words = start.elapsed();
                vectors.search(&question, 100, None);
                (start.elapsed(), words)
            })
            .collect();
        times.sort();
        let (both, words) = times[times.len() / 2];
        println!(
            "{CHUNKS} chunks, {DIMENSIONS} dimensions, {} MB of vectors, {} MB of words: median {both:.1?} (goal: 40 ms), of which words {words:.1?}",
            vectors.bytes() >> 20,
            index.bytes() >> 20
        );
        let ms = |time: Duration| json!({ "value": time.as_secs_f64() * 1e3, "unit": "ms" });
        let memory = json!({ "value": (vectors.bytes() + index.bytes()) >> 20, "unit": "MB" });
        rows.push(json!({ "name": kind, "cells": [ms(both), ms(words), memory] }));
    }
    let title = format!("A search over {CHUNKS} chunks with vectors of {DIMENSIONS} numbers (median)");
    json!({ "title": title, "columns": ["measured", "of this, the words", "memory"], "rows": rows })
}

/// Returns the table of the rankings on the collection of a folder.
fn measure(folder: &str) -> Value {
    let documents = lines(folder, "documents.jsonl");
    let queries = lines(folder, "queries.jsonl");
    let mut relevant = HashMap::<String, HashMap<String, f64>>::new();
    for line in fs::read_to_string(format!("{folder}/qrels.tsv")).unwrap().lines().filter(|line| !line.is_empty()) {
        let fields: Vec<_> = line.split('\t').collect();
        relevant.entry(fields[0].to_owned()).or_default().insert(fields[1].to_owned(), fields[2].parse().unwrap());
    }
    let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let mut index = Index::default();
    let start = Instant::now();
    for document in &documents {
        let (title, body) = (text(document, "title"), text(document, "text"));
        index.add(&text(document, "id"), &[ChunkText { heading: &title, body: &body }]);
    }
    println!(
        "{folder}: {} chunks, {} KB, {:?}, substance {}",
        index.len(),
        index.bytes() / 1024,
        start.elapsed(),
        index.substance()
    );
    let mut rows = Vec::new();
    let mut evaluate = |name: &str, rank: &dyn Fn(&str) -> Vec<Hit>| {
        let (mut ndcg, mut recall, start) = (0.0, 0.0, Instant::now());
        for query in &queries {
            let hits = rank(&text(query, "text"));
            let Some(answers) = relevant.get(&text(query, "id")) else { continue };
            let grade = |hit: &Hit| answers.get(index.chunk(hit.slot).unwrap().0).copied().unwrap_or_default();
            let grades: Vec<_> = hits.iter().map(grade).collect();
            let mut ideal: Vec<_> = answers.values().copied().collect();
            ideal.sort_by(|one, other| other.total_cmp(one));
            ndcg += gain(&grades) / gain(&ideal);
            recall += grades.iter().take(50).filter(|grade| **grade > 0.0).count() as f64 / answers.len() as f64;
        }
        let count = queries.len() as f64;
        let (ndcg, recall, ms) = (ndcg / count, recall / count, start.elapsed().as_secs_f64() * 1e3 / count);
        println!("  {name:<34} {ndcg:.3}  {recall:.3}  {ms:.2} ms");
        let cells = json!([{ "value": ndcg }, { "value": recall }, { "value": ms, "unit": "ms" }]);
        rows.push(json!({ "name": name, "cells": cells }));
    };
    let keyword = |text: &str, expansion| index.search(&Query::new(&index, text), 100, None, expansion);
    evaluate("bm25", &|text| keyword(text, None));
    let expansion = Some(Expansion::for_index(&index));
    evaluate("bm25 with feedback", &|text| keyword(text, expansion));
    for dimensions in [64, 128, 200] {
        let start = Instant::now();
        let options = LatentOptions { dimensions, ..LatentOptions::default() };
        let Some(latent) = Latent::fit(&index, options, &|| false) else { continue };
        let fitted = start.elapsed();
        let mut vectors = Vectors::new(latent.dimensions(), index.len());
        for slot in 0..index.slots() as u32 {
            vectors.set(slot, &latent.chunk(&index, slot));
        }
        let semantic = |text: &str| vectors.search(&latent.query(&index, text), 100, None);
        println!("  latent {dimensions}: fitted in {fitted:?}");
        evaluate(&format!("latent {dimensions}"), &semantic);
        let weight = latent_weight(&index);
        let by_ranks = |text: &str| fuse(&[(&keyword(text, expansion), 1.0), (&semantic(text), weight)], 100);
        evaluate(&format!("latent {dimensions}, fused by ranks"), &by_ranks);
        let by_scores = |text: &str| blend(&keyword(text, expansion), &semantic(text), weight);
        evaluate(&format!("latent {dimensions}, fused by scores"), &by_scores);
    }
    let name = Path::new(folder).file_name().unwrap_or_default().to_string_lossy();
    let columns = ["nDCG@10", "recall@50", "mean time of a search"];
    json!({ "title": format!("Rankings of {name}"), "columns": columns, "rows": rows })
}

/// Adds the scores of two rankings, each relative to its best.
fn blend(one: &[Hit], other: &[Hit], weight: f32) -> Vec<Hit> {
    let mut scores = HashMap::new();
    for (hits, weight) in [(one, 1.0), (other, weight)] {
        let best = hits.first().map_or(1.0, |hit| hit.score);
        hits.iter().for_each(|hit| *scores.entry(hit.slot).or_insert(0.0) += weight * hit.score / best);
    }
    let mut hits: Vec<_> = scores.into_iter().map(|(slot, score)| Hit { slot, score }).collect();
    hits.sort_by(|one, other| other.score.total_cmp(&one.score));
    hits.truncate(100);
    hits
}
