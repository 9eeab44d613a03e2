// The texts of a run directory, read into tables. Whatever is wrong is a Fault with file and line, for people.

export interface RunFiles {
  name: string;
  files: Record<string, string>;
  faults: string[];
}

export class Fault extends Error {}

export interface Table {
  file: string;
  header: string[];
  length: number;
  text(column: string): string[];
  numbers(column: string): number[]; // an empty cell is NaN
  has(column: string): boolean;
}

// Comma-separated, a header line, cells perhaps in quotes. A last line without an end is still being written.
export function parseTable(file: string, content: string): Table {
  const lines = content.split('\n');
  lines.pop();
  if (lines.length === 0) throw new Fault(`${file}: has no header line`);
  const header = cells(lines[0]);
  const columns: string[][] = header.map(() => []);
  for (let i = 1; i < lines.length; ++i) {
    const row = cells(lines[i]);
    if (row.length !== header.length) {
      throw new Fault(`${file}, line ${i + 1}: has ${row.length} cells where the header has ${header.length}`);
    }
    for (let k = 0; k < row.length; ++k) columns[k].push(row[k]);
  }
  const column = (name: string): string[] => {
    const at = header.indexOf(name);
    if (at < 0) throw new Fault(`${file}: has no column ${name}`);
    return columns[at];
  };
  return {
    file,
    header,
    length: lines.length - 1,
    text: column,
    has: (name) => header.includes(name),
    numbers: (name) =>
      column(name).map((cell, i) => {
        if (cell === '') return NaN;
        const value = Number(cell);
        if (!Number.isFinite(value)) throw new Fault(`${file}, line ${i + 2}: ${name} is no number: ${shortened(cell)}`);
        return value;
      }),
  };
}

function cells(line: string): string[] {
  if (!line.includes('"')) return line.split(',');
  const row: string[] = [];
  let cell = '';
  let quoted = false;
  for (const c of line) {
    if (c === '"') quoted = !quoted;
    else if (c === ',' && !quoted) {
      row.push(cell);
      cell = '';
    } else cell += c;
  }
  row.push(cell);
  return row;
}

export function shortened(text: string, most = 60): string {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}

export type Json = Record<string, unknown>;

export function parseObject(file: string, content: string): Json {
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch (error) {
    throw new Fault(`${file}: is no JSON (${shortened(String(error), 120)})`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Fault(`${file}: is no JSON object`);
  return value as Json;
}

export function parseLines(file: string, content: string): Json[] {
  const lines = content.split('\n');
  lines.pop();
  return lines.filter((line) => line !== '').map((line, i) => parseObject(`${file}, line ${i + 1}`, line));
}

// Values of an object, checked.
export class Reader {
  constructor(
    private readonly where: string,
    private readonly object: Json,
  ) {}
  private wrong(key: string, what: string): never {
    throw new Fault(`${this.where}: ${key} is ${this.object[key] === undefined ? 'missing' : `no ${what}`}`);
  }
  number(key: string): number {
    const value = this.object[key];
    return typeof value === 'number' && Number.isFinite(value) ? value : this.wrong(key, 'number');
  }
  count(key: string, most: number): number {
    const value = this.number(key);
    return Number.isInteger(value) && value >= 0 && value <= most ? value : this.wrong(key, `whole number up to ${most}`);
  }
  text(key: string): string {
    const value = this.object[key];
    return typeof value === 'string' ? value : this.wrong(key, 'text');
  }
  numbers(key: string): number[] {
    const value = this.object[key];
    return Array.isArray(value) && value.every((x) => typeof x === 'number') ? value : this.wrong(key, 'list of numbers');
  }
  texts(key: string): string[] {
    const value = this.object[key];
    return Array.isArray(value) && value.every((x) => typeof x === 'string') ? value : this.wrong(key, 'list of texts');
  }
  point(key: string): [number, number] {
    const value = this.numbers(key);
    return value.length >= 2 ? [value[0], value[1]] : this.wrong(key, 'point');
  }
  list(key: string): Reader[] {
    const value = this.object[key];
    if (!Array.isArray(value)) this.wrong(key, 'list');
    return (value as unknown[]).map((x, i) => {
      const where = `${this.where}: ${key}[${i}]`;
      if (typeof x !== 'object' || x === null) throw new Fault(`${where} is no object`);
      return new Reader(where, x as Json);
    });
  }
}

// Keys of a resolved scenario, with their sections, and their values as written: there is one on a line.
export function scenarioKeys(toml: string): Map<string, string> {
  const keys = new Map<string, string>();
  let section = '';
  for (const line of toml.split('\n')) {
    const head = /^\[+([^\]]+)\]/.exec(line);
    const entry = /^([A-Za-z0-9_."-]+)\s*=\s*(.*)$/.exec(line);
    if (head) section = `${head[1]}.`;
    else if (entry) keys.set(section + entry[1], entry[2]);
  }
  return keys;
}
