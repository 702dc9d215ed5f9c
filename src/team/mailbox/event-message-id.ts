import { createHash } from "node:crypto";

/**
 * The `msg_id` of a message that follows from an event: whoever notices it derives the same one, so that telling it twice
 * is telling it once (protocol.md section 4). A uuid as RFC 9562 makes them of a hash (version 8).
 * @param parts what names the event, told apart by their places
 */
export function eventMessageId(...parts: readonly string[]): string {
  const hash = createHash("sha256").update(JSON.stringify(parts)).digest("hex");
  const variant = ((Number.parseInt(hash.charAt(16), 16) & 3) | 8).toString(16);
  return [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `8${hash.slice(13, 16)}`,
    `${variant}${hash.slice(17, 20)}`,
    hash.slice(20, 32),
  ].join("-");
}
