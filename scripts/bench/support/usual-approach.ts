import { mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { lock } from "proper-lockfile";
import type { InboxMessage } from "../../../src/schema/inbox.ts";
import type { Task } from "../../../src/schema/task.ts";
import type { TeamRef } from "../../../src/team/ref.ts";

/**
 * Rewrites a file in the way in which teams of agents usually implement these operations: the whole file is read,
 * changed and rewritten under the lock of `proper-lockfile`, and no entry is ever removed.
 */
async function rewrite<T>(path: string, change: (content: T) => T): Promise<void> {
  const release = await lock(path, { retries: { forever: true, minTimeout: 5, maxTimeout: 100 } });
  try {
    writeFileSync(path, JSON.stringify(change(JSON.parse(readFileSync(path, "utf8")) as T), undefined, 2));
  } finally {
    await release();
  }
}

export function usualSend(inbox: string, message: InboxMessage): Promise<void> {
  return rewrite<InboxMessage[]>(inbox, (messages) => [...messages, message]);
}

export function usualRead(inbox: string): InboxMessage[] {
  return (JSON.parse(readFileSync(inbox, "utf8")) as InboxMessage[]).filter(({ read }) => !read);
}

export function usualMark(inbox: string): Promise<void> {
  return rewrite<InboxMessage[]>(inbox, (messages) =>
    messages.map((message) => (message.read ? message : { ...message, read: true })),
  );
}

/** Reads all tasks under the lock of the list, claims the first free one, and rewrites it. @returns its id */
export async function usualClaim(ref: TeamRef, agent: string): Promise<string> {
  const release = await lock(ref.paths.taskLock, {
    retries: { forever: true, minTimeout: 5, maxTimeout: 100 },
  });
  try {
    const tasks = readdirSync(ref.paths.tasks)
      .filter((name) => name.endsWith(".json"))
      .map((name) => JSON.parse(readFileSync(join(ref.paths.tasks, name), "utf8")) as Task)
      .sort((a, b) => Number(a.id) - Number(b.id));
    const free = tasks.find(({ status, owner }) => status === "pending" && owner === undefined);
    if (free === undefined) throw new Error("No task is free.");
    const mine = { ...free, owner: agent, status: "in_progress" };
    writeFileSync(ref.paths.task(free.id), JSON.stringify(mine, undefined, 2));
    return free.id;
  } finally {
    await release();
  }
}

/** Does the minimum of an atomic delivery: a lock, an inbox of one message in a temporary file, a rename. */
export function leastDelivery(inbox: string): void {
  mkdirSync(`${inbox}.lock`);
  writeFileSync(`${inbox}.new`, ONE_MESSAGE);
  renameSync(`${inbox}.new`, inbox);
  rmdirSync(`${inbox}.lock`);
}

/** Returns a message of average size. */
export function aMessage(id: string): InboxMessage {
  return {
    from: "ada",
    text: "The parser takes a comment inside of a string for a real one; a test for it is in test/parser.test.ts now.",
    timestamp: new Date().toISOString(),
    read: false,
    msgV: 1,
    msg_id: id,
    type: "message",
  };
}

const ONE_MESSAGE = JSON.stringify([aMessage("0")], undefined, 2);
