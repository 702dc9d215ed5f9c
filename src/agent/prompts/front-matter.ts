import { parse } from "yaml";

interface Document {
  /** The front matter; empty where there is none. */
  readonly matter: Readonly<Record<string, unknown>>;
  /** What stands behind it. */
  readonly body: string;
}

/** Characters of front matter that are looked at: it names things, and is no place for more. */
const MAX_MATTER = 16_000;

/**
 * A Markdown file with YAML between two lines of `---` at its top.
 * @throws Error that says what is wrong with the YAML
 */
export function readDocument(text: string): Document {
  const found = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n?---[ \t]*(?:\r?\n|$)/.exec(text);
  if (found === null) return { matter: {}, body: text.replace(/^\uFEFF/, "").trim() };
  const [whole, yaml = ""] = found;
  if (yaml.length > MAX_MATTER) throw new Error("its front matter is too long");
  // Aliases could make a few lines stand for more than memory holds.
  // A warning would go to the terminal past all that makes a text safe for one.
  const value: unknown = parse(yaml, { maxAliasCount: 0, schema: "core", logLevel: "error" });
  if (value !== null && (typeof value !== "object" || Array.isArray(value))) {
    throw new Error("its front matter names no fields");
  }
  return {
    matter: (value ?? {}) as Readonly<Record<string, unknown>>,
    body: text.slice(whole.length).trim(),
  };
}

/** A field with one text. */
export function textOfField(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}
