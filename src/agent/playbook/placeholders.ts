import { messageOf } from "../../errors.ts";
import { QuotingContexts } from "./quoted-values.ts";

/** `{{name}}`, `{{name.path.0}}`; other text in braces, such as a template of another program, is left alone. */
export const PLACEHOLDER = /\{\{\s*([A-Za-z_][\w-]*(?:\.[\w-]+)*)\s*\}\}/g;

/** Returns a placeholder's value by its dotted name. @throws Error if it has none */
export type Lookup = (name: string) => string;

/** Returns the text with every placeholder replaced by its value; placeholders in values are not replaced. */
export function fillText(text: string, lookup: Lookup): string {
  return text.replace(PLACEHOLDER, (_, name: string) => lookup(name));
}

/**
 * Returns a shell command with each placeholder replaced by its value as one word, inside or outside quotes. A hostile
 * value stays a value.
 * @throws Error if no quoting can keep a value one word
 */
export function fillCommand(command: string, lookup: Lookup): string {
  let contexts: QuotingContexts | undefined;
  return command.replace(PLACEHOLDER, (placeholder, name: string, at: number) => {
    // Letters of the same length keep every offset.
    contexts ??= new QuotingContexts(command.replace(PLACEHOLDER, ({ length }) => "x".repeat(length)));
    const value = lookup(name);
    try {
      return contexts.quote(value, at, at + placeholder.length);
    } catch (error) {
      throw new Error(`${placeholder} ${messageOf(error)}`, { cause: error });
    }
  });
}

/** Returns a tool's input with the placeholders of every string replaced; each is one shell word in the command of Bash. */
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
