import { readEntry } from "./inbox-text.ts";

/**
 * Consumed messages that stay in the array, for people and old peers to see; the rest is in the journal (protocol.md
 * section 3). Bounded in number and in characters, so that a delivery costs the same after any history.
 */
const TAIL = { messages: 50, characters: 64 * 1024 };

/** The oldest consumed entries, but for the newest that fit into the {@link TAIL}. */
export function consumedBeyondTail(entries: readonly unknown[]): ReadonlySet<unknown> {
  const dropped = new Set<unknown>();
  let messages = 0;
  let characters = 0;
  for (const entry of entries.toReversed()) {
    const message = readEntry(entry);
    if (message?.read !== true) continue;
    messages += 1;
    characters += message.text.length;
    if (messages > TAIL.messages || characters > TAIL.characters) dropped.add(entry);
  }
  return dropped;
}
