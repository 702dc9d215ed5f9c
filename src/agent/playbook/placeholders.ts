import { messageOf } from "../../errors.ts";
import { QuotingContexts } from "./quoted-values.ts";

/** `{{name}}`, `{{name.path.0}}`; anything else in braces (a template of another program) is left as it is. */
export const PLACEHOLDER = /\{\{\s*([A-Za-z_][\w-]*(?:\.[\w-]+)*)\s*\}\}/g;

/** Gives a placeholder's text by its dotted name, or throws what is wrong with it. */
export type Lookup = (name: string) => string;

/** The text with every placeholder replaced. What is inserted is not looked at again. */
export function fillText(text: string, lookup: Lookup): string {
  return text.replace(PLACEHOLDER, (_, name: string) => lookup(name));
}

/**
 * Returns a shell command with each placeholder replaced by its value as one word, inside quotes or outside, so that a
 * hostile value stays a value.
 * @throws Error where no quoting can keep a value in one piece
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
