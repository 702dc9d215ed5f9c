import * as z from "zod/mini";

/** Any object; unknown fields of other programs are kept on every rewrite (protocol.md, preamble). */
export const metadata = z.record(z.string(), z.unknown());

/** Milliseconds since the epoch; a reader accepts an ISO string too. */
export const milliseconds = z.union([
  z.number(),
  z.pipe(
    z.string(),
    z.transform((text) => Date.parse(text) || 0),
  ),
]);

/** Treats null in a known field as missing, since some programs write it; unknown fields stay. */
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

const { localeError: englishMessage } = z.locales.en();

/** Parses with zod's English error messages, which zod/mini does not include. */
export function parseWithMessages<T>(
  schema: z.core.$ZodType<T>,
  value: unknown,
): z.core.util.SafeParseResult<T> {
  return z.safeParse(schema, value, { error: englishMessage });
}

/** Returns the path and the message of the first problem of a parse; `keys` also names a key that should not be there. */
export function firstIssue(error: z.core.$ZodError): {
  readonly path: string;
  readonly message: string;
  readonly keys: readonly PropertyKey[];
} {
  const issue = error.issues[0];
  const path = issue?.path ?? [];
  const unknown = issue?.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [];
  return {
    path: pathText(path),
    // For an invalid key, the inner issue says which keys are allowed.
    message: (issue?.code === "invalid_key" ? issue.issues[0]?.message : issue?.message) ?? error.message,
    keys: [...path, ...unknown],
  };
}

/** Formats a path in a value: `agents.ada[0].say`. */
export function pathText(path: readonly PropertyKey[]): string {
  return path
    .map((part, i) => (typeof part === "number" ? `[${part}]` : i > 0 ? `.${String(part)}` : String(part)))
    .join("");
}

/**
 * Returns a parsed value with the keys in the order of the original, and added ones at the end. A schema returns its own order, but a
 * rewrite must keep the order of the program that wrote the file.
 */
export function inOrderOf<T>(original: unknown, parsed: T): T {
  if (!isNested(original) || !isNested(parsed)) return parsed;
  if (Array.isArray(original) || Array.isArray(parsed)) {
    const isSame = Array.isArray(original) && Array.isArray(parsed) && original.length === parsed.length;
    return isSame ? (parsed.map((one, at) => inOrderOf(original[at], one)) as T) : parsed;
  }
  const keys = new Set([
    ...Object.keys(original).filter((key) => Object.hasOwn(parsed, key)),
    ...Object.keys(parsed),
  ]);
  return Object.fromEntries([...keys].map((key) => [key, inOrderOf(original[key], parsed[key])])) as T;
}

function isNested(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
