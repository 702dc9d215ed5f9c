/** Formats JSON like other programs do: two spaces, no newline at the end. In its own file so that writers need not load zod. */
export function formatJson(value: unknown): string {
  return JSON.stringify(value, undefined, 2);
}
