import * as z from "zod";

/** Any object; unknown fields written by someone else are kept on every rewrite (protocol.md, preamble). */
export const metadata = z.record(z.string(), z.unknown());

/** Milliseconds since the epoch; a reader accepts an ISO string too. */
export const milliseconds = z.union([z.number(), z.string().transform((text) => Date.parse(text) || 0)]);

/** The first flaw of a parse as `field: what is wrong`. */
export function firstIssue(error: z.ZodError): { readonly path: string; readonly message: string } {
  const issue = error.issues[0];
  const path = (issue?.path ?? []).map((part, i) =>
    typeof part === "number" ? `[${part}]` : i > 0 ? `.${String(part)}` : String(part),
  );
  return { path: path.join(""), message: issue?.message ?? error.message };
}
