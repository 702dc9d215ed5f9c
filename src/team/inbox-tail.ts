import type { InboxMessage } from "../schema/inbox.ts";

/**
 * Consumed messages that stay in the array, for people and old peers to see; the rest is in the journal (protocol.md
 * section 3). Bounded in number and in characters, so that a delivery costs the same after any history.
 */
const TAIL = { messages: 20, characters: 32 * 1024 };
/** They leave together once there are this many times as many: the journal is put on the disk before, once for all of them. */
const SLACK = 2;

/**
 * Where in the array the consumed messages stand that leave it: all but the newest that fit into the {@link TAIL}.
 * @param messages the array's; undefined for entries that nobody can read
 */
export function consumedBeyondTail(messages: readonly (InboxMessage | undefined)[]): ReadonlySet<number> {
  const dropped = new Set<number>();
  let count = 0;
  let characters = 0;
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const message = messages[at];
    if (message?.read !== true) continue;
    count += 1;
    characters += message.text.length;
    if (count > TAIL.messages || characters > TAIL.characters) dropped.add(at);
  }
  const isDue = count > TAIL.messages * SLACK || characters > TAIL.characters * SLACK;
  return isDue ? dropped : new Set();
}
