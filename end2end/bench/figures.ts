import { readFile, writeFile } from "node:fs/promises";

/** A figure and its unit. */
export type Cell = readonly [value: number, unit: string];

interface Row {
  name: string;
  cells: { value: number; unit: string }[];
  goal?: Goal;
}

/** The goal of a figure, in its unit. */
export type Goal = { atMost: number } | { atLeast: number };

interface Table {
  title: string;
  columns: string[];
  rows: Row[];
}

/**
 * Adds a row to a table in the file that `BENCH_FIGURES` names, from which `bench record` stores it. It is written each time: after a test
 * that fails, the next ones run in another process.
 */
export async function record(title: string, name: string, figures: Record<string, Cell>, goal?: Goal): Promise<void> {
  const file = process.env["BENCH_FIGURES"];
  if (!file) return;
  const tables: Table[] = await readFile(file, "utf8").then(JSON.parse, () => []);
  let table = tables.find((table) => table.title === title);
  if (!table) tables.push((table = { title, columns: Object.keys(figures), rows: [] }));
  const cells = Object.values(figures).map(([value, unit]) => ({ value: Number(value.toPrecision(4)), unit }));
  table.rows.push(goal ? { name, cells, goal } : { name, cells });
  await writeFile(file, JSON.stringify(tables));
}
