"""Reads all files of folders with a program's command `read-document`, and compares the words with those that another
reader finds: python-docx, python-pptx, openpyxl and pypdf, if they are installed. Prints a line for each format.

    python compare.py target/debug/chatwright FOLDER...
"""

import collections
import json
import re
import statistics
import struct
import subprocess
import sys
import time
from pathlib import Path

LIMITS = {
    "inputBytes": 64 << 20, "unpackedBytes": 256 << 20, "outputBytes": 16 << 20, "parts": 20_000,
    "time": {"secs": 120, "nanos": 0}, "memoryBytes": 1 << 30,
}
FORMATS = {"docx", "pptx", "xlsx", "xlsb", "xls", "ods", "pdf"}
FRAME = 1 << 20


def frame(content):
    return struct.pack(">I", len(content)) + content


def read(program, path):
    """Returns the document or the failure, as JSON, and how long it took."""
    content = path.read_bytes()
    pieces = [content[at:at + FRAME] for at in range(0, len(content), FRAME)]
    header = json.dumps({"name": path.name, "mediaType": None}).encode()
    begun = time.time()
    child = subprocess.Popen([program, "read-document", json.dumps(LIMITS)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        child.stdin.write(b"".join(map(frame, [header, *pieces, b""])))
        child.stdin.flush()
    except BrokenPipeError:
        pass
    output = child.stdout.read()
    took = time.time() - begun
    child.stdin.close()
    child.wait()
    result = json.loads(output) if output else {"Err": {"code": f"ended with {child.returncode}"}}
    return result, took


def reference(path):
    """Returns the text that another reader finds; None without one."""
    match path.suffix:
        case ".docx":
            import docx
            texts = []
            for block in docx.Document(str(path)).iter_inner_content():
                rows = getattr(block, "rows", None)
                texts += [cell.text for row in rows for cell in row.cells] if rows else [getattr(block, "text", "")]
            return "\n".join(texts)
        case ".pptx":
            import pptx
            shapes = [shape for slide in pptx.Presentation(str(path)).slides for shape in slide.shapes]
            texts = [shape.text_frame.text for shape in shapes if shape.has_text_frame]
            tables = [shape.table for shape in shapes if getattr(shape, "has_table", False) and shape.has_table]
            return "\n".join(texts + [cell.text for table in tables for row in table.rows for cell in row.cells])
        case ".xlsx" if path.stat().st_size < 60_000:
            import openpyxl
            sheets = [sheet for sheet in openpyxl.load_workbook(path, data_only=True).worksheets if sheet.sheet_state == "visible"]
            return "\n".join(cell for sheet in sheets for row in sheet.iter_rows(values_only=True) for cell in row if isinstance(cell, str))
        case ".pdf":
            import pypdf
            return " ".join(page.extract_text() or "" for page in pypdf.PdfReader(path).pages)
    return None


def words(text):
    return collections.Counter(re.findall(r"\w{3,}", text))


def share(path, text):
    """Returns the part of the other reader's words that the text has; None if there are none."""
    try:
        wanted = words(reference(path) or "")
    except Exception:
        return None
    found = words(text)
    return sum(min(count, found[word]) for word, count in wanted.items()) / wanted.total() if wanted else None


def main(program, folders):
    formats = collections.defaultdict(list)
    for path in sorted(path for folder in folders for path in Path(folder).rglob("*") if path.suffix[1:] in FORMATS):
        result, took = read(program, path)
        document = result.get("Ok")
        texts = [document["title"]] + [(part.get("tableHeader") or "") + "\n" + part["text"] for part in document["parts"]] if document else []
        code = None if document else result["Err"]["code"]
        formats[path.suffix[1:]].append((code, share(path, "\n".join(texts)) if document else None, took))
    for name, files in sorted(formats.items()):
        failures = dict(collections.Counter(code for code, _, _ in files if code))
        shares = [share for _, share, _ in files if share is not None]
        mean = f"{statistics.mean(shares):.3f} of the words in {len(shares)}" if shares else "not compared"
        median = statistics.median(took for _, _, took in files)
        print(f"{name}: {len(files)} files, {len(files) - sum(failures.values())} read, {failures}, {mean}, median {median:.2f} s")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
