import { createHash } from "node:crypto";

/**
 * Derives the `msg_id` of a message about an event. Every process derives the same id for the same event, so a second
 * notification is dropped (protocol.md section 4). Returns a version 8 UUID of RFC 9562, made from a hash.
 * @param parts identify the event; their order matters
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
