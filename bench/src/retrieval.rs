//! Measures libraries of documents: how well searches find what is relevant on collections with known answers,
//! how long they take, and how fast documents are read.

use crate::process::{self, MeasuredServer};
use crate::results::{Goal, Table, figure};
use anyhow::{Context, Result, ensure};
use reqwest::Client;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The boundary of the bodies of uploads.
const BOUNDARY: &str = "bench-e2f1c0";
/// How many files a request has.
const FILES: usize = 50;
/// The time without a new ready document after which the measurement fails.
const STALLED: Duration = Duration::from_secs(60);
/// The words of the made-up texts.
const VOCABULARY: u32 = 20_000;

/// A file to upload.
struct NewFile {
    name: String,
    media_type: &'static str,
    content: Vec<u8>,
}

/// How much is measured.
struct Amounts {
    documents: usize,
    questions: usize,
    files: usize,
    pages: usize,
}

/// Measures on the collections in these folders, and on texts that are made up.
pub(crate) async fn measure(binary: &Path, folders: &[PathBuf], is_small: bool) -> Result<Vec<Table>> {
    let folder = tempfile::tempdir()?;
    let config = folder.path().join("chatwright.yaml");
    std::fs::write(&config, CONFIG)?;
    let server = process::serve(binary, &config, folder.path()).await?;
    let bench = Bench { server: &server, http: Client::builder().build()? };
    let mut tables = Vec::new();
    for folder in folders {
        tables.push(bench.collection(folder).await.with_context(|| format!("{}", folder.display()))?);
    }
    let mut table = Table::new("Made-up documents", &["measured"]);
    let amounts = if is_small {
        Amounts { documents: 100, questions: 20, files: 2, pages: 5 }
    } else {
        Amounts { documents: 2_000, questions: 300, files: 10, pages: 50 }
    };
    bench.texts(&amounts, &mut table).await?;
    bench.pdfs(&amounts, &mut table).await?;
    table.add("memory of the server at the end", [figure(server.memory_mb()?, "MB")]);
    tables.push(table);
    server.stop().await?;
    Ok(tables)
}

const CONFIG: &str = "auth: { mode: proxy, publicUrls: ['https://bench.test'], trustedProxies: ['127.0.0.0/8'] }
connections: [{ id: demo, type: Demo }]
agents: [{ id: helper, type: Agent, connectionId: demo, properties: { model: demo } }]
pages: [{ id: page, blocks: [] }]
";

struct Bench<'s> {
    server: &'s MeasuredServer,
    http: Client,
}

impl Bench<'_> {
    async fn call(&self, path: &str, body: Option<Value>) -> Result<Value> {
        let url = format!("{}{path}", self.server.origin);
        let request = match body {
            Some(body) => self.http.post(url).json(&body),
            None => self.http.get(url),
        };
        let answer = request.header("x-forwarded-user", "ada").send().await?;
        let status = answer.status();
        ensure!(status.is_success(), "{path}: {status} {}", answer.text().await?);
        Ok(answer.json().await?)
    }

    /// Uploads files into a new library, and waits until all are ready. Returns its id, and how long it took.
    async fn library(&self, files: Vec<NewFile>) -> Result<(String, Duration)> {
        let library = self.call("/api/libraries", Some(json!({ "name": "Measured" }))).await?;
        let id = library["id"].as_str().context("no id")?.to_owned();
        let (mut added, begun) = (HashSet::new(), Instant::now());
        for files in files.chunks(FILES) {
            let url = format!("{}/api/libraries/{id}/documents", self.server.origin);
            let request = self.http.post(url).header("x-forwarded-user", "ada").body(multipart(files));
            let content_type = format!("multipart/form-data; boundary={BOUNDARY}");
            let answer = request.header("content-type", content_type).send().await?;
            ensure!(answer.status().is_success(), "{} {}", answer.status(), answer.text().await?);
            added.extend(document_ids(&answer.json().await?)?);
        }
        self.wait_until_ready(&id, added.len() as u64).await?;
        Ok((id, begun.elapsed()))
    }

    /// Waits until a library has so many ready documents. Fails if their number stops growing.
    async fn wait_until_ready(&self, library: &str, count: u64) -> Result<()> {
        let (mut ready, mut grown_at) = (0, Instant::now());
        loop {
            let library = self.call(&format!("/api/libraries/{library}"), None).await?;
            let documents = &library["documents"];
            ensure!(documents["failed"] == 0, "documents failed: {documents}");
            let now = documents["ready"].as_u64().context("no number of ready documents")?;
            if now == count {
                return Ok(());
            }
            if now != ready {
                (ready, grown_at) = (now, Instant::now());
            }
            ensure!(grown_at.elapsed() < STALLED, "{count} documents were added; for {STALLED:?} it is {documents}");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// Asks the questions of a collection: `documents.jsonl`, `queries.jsonl`, `qrels.tsv`.
    async fn collection(&self, folder: &Path) -> Result<Table> {
        let documents = lines(folder, "documents.jsonl")?;
        let files = documents.iter().map(|document| NewFile {
            name: format!("{}.md", text(document, "id")),
            media_type: "text/markdown",
            content: format!("# {}\n\n{}\n", text(document, "title"), text(document, "text")).into_bytes(),
        });
        let (library, _) = self.library(files.collect()).await?;
        let relevant = judgements(folder)?;
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let title = format!("{name} ({} documents)", documents.len());
        let mut table = Table::new(&title, &["nDCG@10", "recall@50", "median of a search", "p99"]);
        for mode in ["keyword", "semantic", "hybrid"] {
            let (mut ndcg, mut recall, mut times) = (0.0, 0.0, Vec::new());
            for question in lines(folder, "queries.jsonl")? {
                let Some(grades) = relevant.get(text(&question, "id")) else { continue };
                let (found, time) = self.search(&library, text(&question, "text"), mode, 50).await?;
                times.push(time);
                let gains: Vec<f64> = found.iter().map(|id| grades.get(id).copied().unwrap_or_default()).collect();
                let mut ideal: Vec<f64> = grades.values().copied().collect();
                ideal.sort_by(|one, other| other.total_cmp(one));
                ndcg += gain(&gains) / gain(&ideal);
                recall += gains.iter().filter(|gain| **gain > 0.0).count() as f64 / grades.len() as f64;
            }
            let count = times.len() as f64;
            let (median, slow) = percentiles(times);
            let quality = [figure(ndcg / count, ""), figure(recall / count, "")];
            table.add(mode, [&quality[..], &[figure(median, "ms"), figure(slow, "ms")]].concat());
        }
        Ok(table)
    }

    /// Returns the documents that were found, best first, and how long it took in milliseconds.
    async fn search(&self, library: &str, query: &str, mode: &str, limit: u32) -> Result<(Vec<String>, f64)> {
        let (begun, body) = (Instant::now(), json!({ "query": query, "limit": limit, "mode": mode }));
        let answer = self.call(&format!("/api/libraries/{library}/search"), Some(body)).await?;
        let time = begun.elapsed().as_secs_f64() * 1e3;
        let mut found = Vec::new();
        for result in answer["results"].as_array().context("no results")? {
            let id = text(result, "fileName").trim_end_matches(".md").to_owned();
            if !found.contains(&id) {
                found.push(id);
            }
        }
        Ok((found, time))
    }

    async fn texts(&self, amounts: &Amounts, table: &mut Table) -> Result<()> {
        let mut words = Words(1);
        let files = (0..amounts.documents).map(|number| NewFile {
            name: format!("{number}.md"),
            media_type: "text/markdown",
            content: format!("# {}\n\n{}\n\n{}\n", words.take(5), words.take(110), words.take(110)).into_bytes(),
        });
        let (library, took) = self.library(files.collect()).await?;
        let rate = amounts.documents as f64 / took.as_secs_f64();
        let name = format!("text documents per second, of {}", amounts.documents);
        table.add_with_goal(&name, [figure(rate, "")], Goal::AtLeast(100.0));
        // The first searches build the index and its vectors.
        for _ in 0..3 {
            self.search(&library, &words.take(6), "hybrid", 5).await?;
        }
        let mut times = Vec::new();
        for _ in 0..amounts.questions {
            times.push(self.search(&library, &words.take(6), "hybrid", 5).await?.1);
        }
        let (median, slow) = percentiles(times);
        table.add_with_goal("a search of them, median", [figure(median, "ms")], Goal::AtMost(10.0));
        table.add("a search of them, p99", [figure(slow, "ms")]);
        Ok(())
    }

    async fn pdfs(&self, amounts: &Amounts, table: &mut Table) -> Result<()> {
        let mut words = Words(2);
        let files = (0..amounts.files).map(|number| NewFile {
            name: format!("{number}.pdf"),
            media_type: "application/pdf",
            content: pdf(amounts.pages, &mut words),
        });
        let (_, took) = self.library(files.collect()).await?;
        let pages = amounts.files * amounts.pages;
        let name = format!("pages of PDF per second, of {pages}");
        table.add_with_goal(&name, [figure(pages as f64 / took.as_secs_f64(), "")], Goal::AtLeast(20.0));
        Ok(())
    }
}

/// Returns the ids of the documents that an upload has become. Files with equal bytes become one document, so there
/// may be fewer than files.
fn document_ids(answer: &Value) -> Result<Vec<String>> {
    let documents = answer["documents"].as_array().context("no documents")?;
    let ids = documents.iter().map(|document| document["id"].as_str().map(str::to_owned).context("no id"));
    ids.collect()
}

fn multipart(files: &[NewFile]) -> Vec<u8> {
    let mut body = Vec::new();
    for NewFile { name, media_type, content } in files {
        let head = format!(
            "--{BOUNDARY}\r\ncontent-disposition: form-data; name=\"file\"; filename=\"{name}\"\r\ncontent-type: {media_type}\r\n\r\n"
        );
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(content);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{BOUNDARY}--\r\n").as_bytes());
    body
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

fn lines(folder: &Path, name: &str) -> Result<Vec<Value>> {
    let content = std::fs::read_to_string(folder.join(name)).with_context(|| name.to_owned())?;
    content.lines().filter(|line| !line.is_empty()).map(|line| Ok(serde_json::from_str(line)?)).collect()
}

/// Reads how relevant documents are, by question: lines of question, document and grade.
fn judgements(folder: &Path) -> Result<HashMap<String, HashMap<String, f64>>> {
    let content = std::fs::read_to_string(folder.join("qrels.tsv")).context("qrels.tsv")?;
    let mut relevant = HashMap::<String, HashMap<String, f64>>::new();
    for line in content.lines().filter(|line| !line.is_empty()) {
        let mut fields = line.split('\t');
        let (Some(question), Some(document), Some(grade)) = (fields.next(), fields.next(), fields.next()) else {
            anyhow::bail!("qrels.tsv: `{line}` has not three fields");
        };
        relevant.entry(question.to_owned()).or_default().insert(document.to_owned(), grade.parse()?);
    }
    Ok(relevant)
}

fn gain(grades: &[f64]) -> f64 {
    grades.iter().take(10).zip(2..).map(|(grade, rank)| grade / f64::from(rank).log2()).sum()
}

/// Returns the median and the value below which 99 % are.
fn percentiles(mut times: Vec<f64>) -> (f64, f64) {
    times.sort_by(f64::total_cmp);
    let at = |part: usize| times.get(times.len() * part / 100).or(times.last()).copied().unwrap_or_default();
    (at(50), at(99))
}

/// Makes up words, some of which are much more frequent than others, as in texts; always the same ones.
struct Words(u64);

impl Words {
    fn take(&mut self, count: usize) -> String {
        (0..count).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }

    fn word(&mut self) -> String {
        // xorshift64*, which needs no dependency.
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let part = (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as f64 / (1_u64 << 53) as f64;
        let mut rank = f64::from(VOCABULARY).powf(part) as u32 + 40;
        let mut word = String::new();
        while rank > 0 {
            word.push(char::from(b"bdfgklmnprstvz"[rank as usize % 14]));
            word.push(char::from(b"aeiou"[rank as usize / 14 % 5]));
            rank /= 70;
        }
        word
    }
}

/// Returns a PDF of pages with 30 lines of text each.
fn pdf(pages: usize, words: &mut Words) -> Vec<u8> {
    let kids: String = (0..pages).map(|page| format!("{} 0 R ", 4 + page * 2)).collect();
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        format!("<< /Type /Pages /Count {pages} /Kids [{kids}] >>"),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
    ];
    for page in 0..pages {
        let mut lines = String::new();
        for line in 0..30 {
            let _ = writeln!(lines, "BT /F1 11 Tf 50 {} Td ({}) Tj ET", 760 - line * 22, words.take(11));
        }
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> /Contents {} 0 R >>",
            5 + page * 2
        ));
        objects.push(format!("<< /Length {} >>\nstream\n{lines}endstream", lines.len()));
    }
    let mut file = "%PDF-1.4\n".to_owned();
    let mut places = Vec::new();
    for (number, object) in (1..).zip(&objects) {
        places.push(file.len());
        let _ = writeln!(file, "{number} 0 obj\n{object}\nendobj");
    }
    let table = file.len();
    let _ = write!(file, "xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for place in places {
        let _ = writeln!(file, "{place:010} 00000 n ");
    }
    let _ = writeln!(file, "trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF", objects.len() + 1);
    file.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two documents of Cranfield are empty, so the second one does not become a document of its own.
    #[test]
    fn files_with_equal_bytes_count_once() {
        let answers = [
            json!({ "documents": [{ "id": "a", "fileName": "471.md", "state": "queued" }, { "id": "b" }] }),
            json!({ "documents": [{ "id": "a", "fileName": "471.md", "state": "ready", "alreadyAs": "471.md" }] }),
        ];
        let added: HashSet<_> = answers.iter().flat_map(|answer| document_ids(answer).unwrap()).collect();
        assert_eq!(added, HashSet::from(["a".to_owned(), "b".to_owned()]));
        assert!(document_ids(&json!({})).is_err());
        assert!(document_ids(&json!({ "documents": [{}] })).is_err());
    }
}
