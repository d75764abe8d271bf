"""Makes the files of this folder, which the test `files.rs` reads. The files are stored, so nothing needs this program
unless a file is added: pip install python-docx python-pptx openpyxl xlsxwriter xlwt odfpy reportlab fpdf2 ebooklib

    python make.py FONT

FONT is a file with Latin, Greek, Cyrillic and Hebrew letters, such as DejaVuSans.ttf.
"""

import datetime
import json
import sys
from email.message import EmailMessage
from pathlib import Path

HERE = Path(__file__).parent
DAY = datetime.datetime(2026, 3, 14, 12, 0)
ROWS = [["Country", "Days"], ["France", "14"], ["Japan", "30"]]


def word():
    import docx
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    def new():
        document = docx.Document()
        document.core_properties.created = document.core_properties.modified = DAY
        return document

    def table(parent, rows):
        made = parent.add_table(rows=0, cols=len(rows[0]))
        for row in rows:
            for cell, text in zip(made.add_row().cells, row):
                cell.text = text
        return made

    report = new()
    report.add_heading("Travel report", 0)
    report.add_heading("Refunds", 1)
    report.add_paragraph("Within thirty days of the journey.")
    report.add_heading("Exceptions", 2)
    report.add_paragraph("None for meals.")
    table(report, ROWS)
    report.add_heading("Contacts", 1)
    report.add_paragraph("Ask the front desk.")
    report.save(HERE / "report.docx")

    lists = new()
    lists.add_heading("Checklist", 1)
    for text in ["Passport", "Ticket"]:
        lists.add_paragraph(text, style="List Bullet")
    for text in ["Book the flight", "Pay the fee"]:
        lists.add_paragraph(text, style="List Number")
    lists.add_paragraph("After the lists.")
    lists.save(HERE / "lists.docx")

    merged = new()
    merged.add_heading("Shifts", 1)
    made = table(merged, [["Day", "Early", "Late"], ["Monday", "Ada", "Bob"], ["Tuesday", "Cy", "Dee"]])
    made.cell(1, 1).merge(made.cell(1, 2))
    merged.add_paragraph("End of the plan.")
    merged.save(HERE / "merged.docx")

    formats = new()
    paragraph = formats.add_paragraph("Read the ")
    paragraph.add_run("important").bold = True
    paragraph.add_run(" and ")
    paragraph.add_run("quiet").italic = True
    paragraph.add_run(" parts")
    paragraph.add_run().add_break()
    paragraph.add_run("on a second line\tafter a tab.")
    formats.sections[0].header.paragraphs[0].text = "Company paper"
    formats.save(HERE / "formats.docx")

    hebrew = new()
    hebrew.add_heading("מדריך", 1)
    paragraph = hebrew.add_paragraph("הדלת ננעלת בשעה 22:00.")
    paragraph._p.get_or_add_pPr().append(OxmlElement("w:bidi"))
    paragraph.runs[0]._r.get_or_add_rPr().append(OxmlElement("w:rtl"))
    hebrew.save(HERE / "hebrew.docx")

    tracked = new()
    paragraph = tracked.add_paragraph("The fee is ")
    for kind, tag, text in [("w:del", "w:delText", "ten"), ("w:ins", "w:t", "twelve")]:
        change, run, content = OxmlElement(kind), OxmlElement("w:r"), OxmlElement(tag)
        change.set(qn("w:author"), "Ada")
        content.text = text
        run.append(content)
        change.append(run)
        paragraph._p.append(change)
    paragraph.add_run(" euros.")
    tracked.save(HERE / "tracked.docx")


def slides():
    from pptx import Presentation
    from pptx.util import Inches

    plan = Presentation()
    slide = plan.slides.add_slide(plan.slide_layouts[1])
    slide.shapes.title.text = "The plan"
    slide.placeholders[1].text = "First step\nSecond step"
    slide.notes_slide.notes_text_frame.text = "Mention the budget."
    slide = plan.slides.add_slide(plan.slide_layouts[1])
    slide.shapes.title.text = "The goals"
    slide.placeholders[1].text = "Grow"
    plan.save(HERE / "plan.pptx")

    grid = Presentation()
    slide = grid.slides.add_slide(grid.slide_layouts[5])
    slide.shapes.title.text = "Days by country"
    made = slide.shapes.add_table(3, 2, Inches(1), Inches(2), Inches(6), Inches(2)).table
    for at, row in enumerate(ROWS):
        for column, text in enumerate(row):
            made.cell(at, column).text = text
    grid.save(HERE / "grid.pptx")

    columns = Presentation()
    slide = columns.slides.add_slide(columns.slide_layouts[3])
    slide.shapes.title.text = "Two columns"
    slide.placeholders[1].text = "Left text"
    slide.placeholders[2].text = "Right text"
    columns.save(HERE / "columns.pptx")


def sheets():
    import openpyxl
    import xlsxwriter
    import xlwt
    from odf.opendocument import OpenDocumentSpreadsheet
    from odf.table import Table, TableCell, TableRow
    from odf.text import P

    book = openpyxl.Workbook()
    book.active.title = "Days"
    for row in [["Country", "Days"], ["France", 14], ["Japan", 30]]:
        book.active.append(row)
    other = book.create_sheet("Prices")
    for row in [["Meal", "Price"], ["Lunch", 12.5]]:
        other.append(row)
    hidden = book.create_sheet("Old")
    hidden.append(["Secret"])
    hidden.sheet_state = "hidden"
    book.save(HERE / "sheets.xlsx")

    merged = openpyxl.Workbook()
    merged.active.title = "Merged"
    for row in [["Region", "City"], ["North", "Oslo"], [None, "Turku"]]:
        merged.active.append(row)
    merged.active.merge_cells("A2:A3")
    merged.save(HERE / "merged.xlsx")

    values = xlsxwriter.Workbook(str(HERE / "values.xlsx"))
    values.set_properties({"created": DAY})
    sheet = values.add_worksheet("Values")
    sheet.write_row(0, 0, ["Date", "Sum", "Done"])
    sheet.write_datetime(1, 0, datetime.datetime(2026, 3, 14), values.add_format({"num_format": "yyyy-mm-dd"}))
    sheet.write_formula(1, 1, "=20+22", None, 42)
    sheet.write_boolean(1, 2, True)
    values.close()

    old = xlwt.Workbook()
    sheet = old.add_sheet("Days")
    for at, row in enumerate(ROWS):
        for column, text in enumerate(row):
            sheet.write(at, column, text)
    old.save(str(HERE / "old.xls"))

    free = OpenDocumentSpreadsheet()
    for name, rows in [("Days", ROWS), ("Meals", [["Meal"], ["Lunch"]])]:
        table = Table(name=name)
        for row in rows:
            line = TableRow()
            for text in row:
                cell = TableCell(valuetype="string")
                cell.addElement(P(text=text))
                line.addElement(cell)
            table.addElement(line)
        free.spreadsheet.addElement(table)
    free.save(str(HERE / "free.ods"))


def pdf():
    from fpdf import FPDF
    from reportlab.lib.pagesizes import A4, landscape
    from reportlab.lib.styles import getSampleStyleSheet
    from reportlab.platypus import (
        BaseDocTemplate, Frame, ListFlowable, PageBreak, PageTemplate, Paragraph, SimpleDocTemplate, Table, TableStyle,
    )
    from reportlab.lib import colors

    styles = getSampleStyleSheet()
    heading, normal = styles["Heading1"], styles["Normal"]
    long = "The hotel is booked by the front desk, and the guest pays for meals at the bar in the evening. "

    def document(name, content, size=A4):
        SimpleDocTemplate(str(HERE / name), pagesize=size, invariant=1).build(content)

    document("report.pdf", [
        Paragraph("Refunds", heading), Paragraph("Within thirty days of the journey. " + long * 3, normal),
        PageBreak(), Paragraph("Contacts", heading), Paragraph("Ask the front desk. " + long, normal),
    ])
    grid = TableStyle([("GRID", (0, 0), (-1, -1), 0.5, colors.black)])
    document("grid.pdf", [
        Paragraph("Days by country", heading), Paragraph(long, normal), Table(ROWS, style=grid),
        Paragraph("After the table.", normal),
    ])
    points = [Paragraph("Passport", normal), Paragraph("Ticket", normal)]
    document("lists.pdf", [
        Paragraph("Checklist", heading), ListFlowable(points, bulletType="bullet"), Paragraph("After the list.", normal),
    ])
    document("wide.pdf", [Paragraph("Landscape", heading), Paragraph("A wide page. " + long * 2, normal)], landscape(A4))

    two = BaseDocTemplate(str(HERE / "columns.pdf"), pagesize=A4, invariant=1)
    frames = [Frame(60 + 245 * at, 500, 230, 260) for at in range(2)]
    two.addPageTemplates([PageTemplate(frames=frames)])
    left = [Paragraph(f"Left paragraph {at}. " + long * 2, normal) for at in range(1, 4)]
    right = [Paragraph(f"Right paragraph {at}. " + long, normal) for at in range(1, 4)]
    from reportlab.platypus import FrameBreak
    two.build([*left, FrameBreak(), *right])

    book = FPDF()
    book.set_creation_date(DAY.replace(tzinfo=datetime.timezone.utc))
    book.add_font("dejavu", fname=sys.argv[1])
    book.add_page()
    book.set_font("dejavu", size=12)
    book.multi_cell(0, 8, "Grüße aus Köln: Straße, naïve, 10 €, Ελληνικά и русский.")
    book.output(str(HERE / "letters.pdf"))

    table = FPDF()
    table.set_creation_date(DAY.replace(tzinfo=datetime.timezone.utc))
    table.add_page()
    table.set_font("Helvetica", size=12)
    with table.table() as made:
        for row in ROWS:
            line = made.row()
            for text in row:
                line.cell(text)
    table.output(str(HERE / "table.pdf"))

    hebrew = FPDF()
    hebrew.set_creation_date(DAY.replace(tzinfo=datetime.timezone.utc))
    hebrew.add_font("dejavu", fname=sys.argv[1])
    hebrew.add_page()
    hebrew.set_text_shaping(False)
    hebrew.set_font("dejavu", size=12)
    # Drawn from left to right, as a program without support of Hebrew needs it.
    hebrew.multi_cell(0, 8, "הדלת ננעלת בשעה מאוחרת"[::-1], align="R")
    hebrew.output(str(HERE / "hebrew.pdf"))


def books():
    from ebooklib import epub

    book = epub.EpubBook()
    book.set_identifier("chatwright-test-book")
    book.set_title("A small book")
    book.set_language("en")
    chapters = []
    for at, (title, text) in enumerate([
        ("Arrival", "<p>The train is <em>late</em>.</p><ul><li>One bag</li><li>Two coats</li></ul>"),
        ("Departure", "<p>All is packed.</p><table><tr><th>Country</th><th>Days</th></tr><tr><td>France</td><td>14</td></tr></table>"),
    ]):
        chapter = epub.EpubHtml(title=title, file_name=f"{at}.xhtml")
        chapter.content = f"<h1>{title}</h1>{text}"
        book.add_item(chapter)
        chapters.append(chapter)
    book.toc = chapters
    book.spine = chapters
    book.add_item(epub.EpubNcx())
    book.add_item(epub.EpubNav())
    epub.write_epub(str(HERE / "book.epub"), book)


def texts():
    html = "<!doctype html><html><head><meta charset='{}'><title>{}</title></head><body>{}</body></html>"
    body = "<nav>Menu</nav><h1>Refunds</h1><p>Within <b>thirty</b> days.</p><h2>Exceptions</h2><table><tr><th>Country</th><th>Days</th></tr><tr><td>France</td><td>14</td></tr></table><ol><li>Ask</li><li>Pay</li></ol>"
    (HERE / "article.html").write_text(html.format("utf-8", "Travel", body), encoding="utf-8")
    hebrew = html.format("windows-1255", "מדריך", "<h1>מדריך</h1><p>הדלת ננעלת בשעה 22:00.</p>")
    (HERE / "hebrew.html").write_bytes(hebrew.encode("windows-1255"))

    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "Ada <ada@example.com>", "bob@example.com", "Grüße aus Köln"
    mail["Date"] = "Sat, 14 Mar 2026 12:00:00 +0000"
    mail.set_content("The plain text.\n")
    mail.add_alternative("<h2>Plan</h2><p>The <b>rich</b> text.</p>", subtype="html")
    mail.add_attachment(b"a,b\n1,2\n", maintype="text", subtype="csv", filename="days.csv")
    mail.set_boundary("outer")
    mail.get_payload()[0].set_boundary("inner")
    (HERE / "mail.eml").write_bytes(bytes(mail))

    lines = lambda mark: "".join(mark.join(row) + "\r\n" for row in ROWS)
    (HERE / "days.csv").write_text(lines(","), newline="")
    (HERE / "semicolon.csv").write_bytes(lines(";").replace("Japan", "Österreich").encode("utf-16"))
    (HERE / "tabs.tsv").write_text(lines("\t"), newline="")
    (HERE / "latin.txt").write_bytes("Grüße aus Köln.\nDie Straße ist schön.\n".encode("latin-1"))
    (HERE / "notes.md").write_text("# Refunds\n\nWithin thirty days.\n\n## Exceptions\n\n| Country | Days |\n|---|---|\n| France | 14 |\n\n- Ask\n- Pay\n")
    (HERE / "data.json").write_text(json.dumps({"country": "France", "days": [14, 30]}, indent=2) + "\n")
    (HERE / "program.py").write_text("def days(country):\n    return 14 if country == \"France\" else 30\n")


if __name__ == "__main__":
    for make in (word, slides, sheets, pdf, books, texts):
        make()
