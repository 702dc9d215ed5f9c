/** JSON as peers write it: two spaces, no newline at the end. */
export function formatJson(value: unknown): string {
  return JSON.stringify(value, undefined, 2);
}
