import { parse } from "yaml";

interface Document {
  /** The fields of the front matter; empty without front matter. */
  readonly matter: Readonly<Record<string, unknown>>;
  /** The text after it. */
  readonly body: string;
}

/** Maximum characters of front matter, which contains only names and short texts. */
const MAX_MATTER = 16_000;

/**
 * Matches front matter with its two lines of `---`; the first group is its YAML. Only a whole line ends it: not `---x: 1`, and not a line
 * that ends with `---`, after which restrictions may follow.
 */
export const FRONT_MATTER = /^\uFEFF?---[ \t]*\r?\n(?:([\s\S]*?)\r?\n)??---[ \t]*(?:\r?\n|$)/;

/**
 * Reads a Markdown file with YAML between two lines of `---` at its top.
 * @throws Error with the problem of the YAML
 */
export function readDocument(text: string): Document {
  const found = FRONT_MATTER.exec(text);
  if (found === null) return { matter: {}, body: text.replace(/^\uFEFF/, "").trim() };
  const [whole, yaml = ""] = found;
  if (yaml.length > MAX_MATTER) throw new Error("its front matter is too long");
  // No aliases: with them, a few lines could expand to more than fits into memory.
  // No warnings: they would go to the terminal without being sanitized.
  const value: unknown = parse(yaml, { maxAliasCount: 0, schema: "core", logLevel: "error" });
  if (value !== null && (typeof value !== "object" || Array.isArray(value))) {
    throw new Error("its front matter must have fields, such as name: ada");
  }
  return {
    matter: (value ?? {}) as Readonly<Record<string, unknown>>,
    body: text.slice(whole.length).trim(),
  };
}

/** Returns the trimmed text of a field; undefined if it is empty or not a text. */
export function textOfField(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}
