/** Formats JSON like other programs do: two spaces, no newline at the end. */
export function formatJson(value: unknown): string {
  return JSON.stringify(value, undefined, 2);
}
