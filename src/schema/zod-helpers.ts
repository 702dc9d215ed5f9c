import * as z from "zod/mini";

/** Any object; unknown fields written by someone else are kept on every rewrite (protocol.md, preamble). */
export const metadata = z.record(z.string(), z.unknown());

/** Milliseconds since the epoch; a reader accepts an ISO string too. */
export const milliseconds = z.union([
  z.number(),
  z.pipe(
    z.string(),
    z.transform((text) => Date.parse(text) || 0),
  ),
]);

/** An object in which null for a known field reads as if it were not there, as some peers write it; unknown ones stay. */
export function nullIsAbsent<T extends z.ZodMiniObject>(fields: T): z.ZodMiniPipe<z.ZodMiniTransform, T> {
  const known = new Set(Object.keys(fields.shape));
  return z.pipe(
    z.transform((value) => withoutNulls(value, known)),
    fields,
  ) as z.ZodMiniPipe<z.ZodMiniTransform, T>;
}

function withoutNulls(value: unknown, known: ReadonlySet<string>): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value);
  const kept = entries.filter(([key, field]) => field !== null || !known.has(key));
  return kept.length === entries.length ? value : Object.fromEntries(kept);
}

const { localeError: inWords } = z.locales.en();

/** A parse whose flaws are told in zod's English; zod's small form knows no words of its own. */
export function parseInWords<T>(schema: z.core.$ZodType<T>, value: unknown): z.core.util.SafeParseResult<T> {
  return z.safeParse(schema, value, { error: inWords });
}

/** The first flaw of a parse as `field: what is wrong`. */
export function firstIssue(error: z.core.$ZodError): { readonly path: string; readonly message: string } {
  const issue = error.issues[0];
  return { path: pathText(issue?.path ?? []), message: issue?.message ?? error.message };
}

/** A place in a value as a program writes it: `agents.ada[0].say`. */
export function pathText(path: readonly PropertyKey[]): string {
  return path
    .map((part, i) => (typeof part === "number" ? `[${part}]` : i > 0 ? `.${String(part)}` : String(part)))
    .join("");
}
