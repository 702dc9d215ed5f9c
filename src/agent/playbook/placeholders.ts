import { WordContext } from "./shell-quoting-context.ts";

/** `{{name}}`, `{{name.path.0}}`; anything else in braces (a template of another program) is left as it is. */
export const PLACEHOLDER = /\{\{\s*([A-Za-z_][\w-]*(?:\.[\w-]+)*)\s*\}\}/g;

/** Gives a placeholder's text by its dotted name, or throws what is wrong with it. */
export type Lookup = (name: string) => string;

/** The text with every placeholder replaced. What is inserted is not looked at again. */
export function fillText(text: string, lookup: Lookup): string {
  return text.replace(PLACEHOLDER, (_, name: string) => lookup(name));
}

/**
 * A shell command with every placeholder inserted as one word, wherever in quotes it stands, so that a hostile value
 * stays a value.
 * @throws Error where no quoting can keep a value in one piece
 */
export function fillCommand(command: string, lookup: Lookup): string {
  const context = new WordContext();
  let filled = "";
  let from = 0;
  for (const match of command.matchAll(PLACEHOLDER)) {
    const before = command.slice(from, match.index);
    context.read(before);
    filled += before + insert(context, lookup(match[1] ?? ""), match[0]);
    from = match.index + match[0].length;
  }
  return filled + command.slice(from);
}

function insert(context: WordContext, value: string, placeholder: string): string {
  try {
    return context.insert(value);
  } catch (error) {
    throw new Error(`${placeholder} ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}

/** A tool's input with every string in it filled; the command of Bash as a shell's words. */
export function fillInput(tool: string, input: Readonly<Record<string, unknown>>, lookup: Lookup): unknown {
  const fill = (value: unknown): unknown => {
    if (typeof value === "string") return fillText(value, lookup);
    if (Array.isArray(value)) return value.map(fill);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fill(item)]));
  };
  if (tool !== "Bash" || typeof input.command !== "string") return fill(input);
  const { command, ...rest } = input;
  return { command: fillCommand(command, lookup), ...(fill(rest) as object) };
}
