import { describe, expect, it } from "vitest";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import type { InboxEntry } from "../../../src/team/mailbox/receive.ts";
import { ShutdownRequests, TurnQueue } from "../../../src/worker/turn-queue.ts";
import {
  entry,
  idleNotice,
  protocolEntry,
  shutdownRequest,
  typed,
} from "../../support/team/inbox-entries.ts";

function queueOf(role: "teammate" | "lead", ...entries: InboxEntry[]): TurnQueue {
  const queue = new TurnQueue(role);
  for (const one of entries) queue.add(one);
  return queue;
}

/** Takes the next turn, and returns the texts of its entries. */
const take = (queue: TurnQueue, planOpen = false, othersWork = false): string[] | undefined => {
  const batch = queue.take(planOpen, othersWork);
  return batch?.entries.map(({ message }) => message.text);
};

describe("TurnQueue", () => {
  it("takes all entries for a turn, in order (S28)", () => {
    const queue = queueOf("teammate", entry("ada", "one"), entry("bob", "two"));
    queue.add(typed("typed"));
    queue.add(entry("ada", "three"));
    expect(queue.isEmpty).toBe(false);
    expect(take(queue)).toEqual(["one", "two", "typed", "three"]);
    expect(queue.isEmpty).toBe(true);
    expect(take(queue)).toBeUndefined();
  });

  it("reports a shutdown request until it is taken", () => {
    const queue = queueOf("teammate", entry("ada", "one"));
    expect(queue.hasShutdown).toBe(false);
    queue.add(shutdownRequest());
    expect(queue.hasShutdown).toBe(true);
    take(queue);
    expect(queue.hasShutdown).toBe(false);
  });
});

describe("TurnQueue of a client's lead", () => {
  it("drops waiting messages and returns their keys", () => {
    const [one, line] = [entry("ada", "one"), typed("line")];
    const queue = queueOf("lead", one, line);
    expect(queue.hasTyped).toBe(true);
    expect(queue.drop(new Set([line.key, "other"]))).toEqual([line.key]);
    expect(queue.hasTyped).toBe(false);
    expect(take(queue)).toEqual(["one"]);
  });

  it("keeps a text for the next turn without starting one", () => {
    const queue = new TurnQueue("lead");
    queue.addToNext("the team");
    expect(queue.isEmpty).toBe(true);
    expect(queue.take(false, false)).toBeUndefined();
    queue.add(typed("line"));
    expect(queue.take(false, false)?.instructions).toEqual(["the team"]);
    queue.add(typed("line"));
    expect(queue.take(false, false)?.instructions).toEqual([]);
  });
});

describe("TurnQueue.take", () => {
  const long = (from: string) => entry(from, "x".repeat(90_000));

  it("takes as much text as fits a turn, and leaves the rest to the next turn", () => {
    const queue = new TurnQueue("teammate");
    const all = [long("a"), long("b"), long("c"), entry("d", "short")];
    for (const one of all) queue.add(one);
    expect(queue.take(false, false)?.entries).toEqual(all.slice(0, 2));
    expect(queue.isEmpty).toBe(false);
    expect(queue.take(false, false)?.entries).toEqual(all.slice(2));
    expect(queue.isEmpty).toBe(true);
  });

  it("takes a long message alone, but with every shutdown request and typed line", () => {
    const queue = new TurnQueue("teammate");
    const [huge, more, stop, line] = [
      entry("a", "x".repeat(900_000)),
      long("b"),
      shutdownRequest(),
      typed("wait"),
    ];
    for (const one of [huge, more, stop, line]) queue.add(one);
    expect(queue.take(false, false)?.entries).toEqual([huge, stop, line]);
    expect(queue.take(false, false)?.entries).toEqual([more]);
  });
});

describe("TurnQueue with a system notification", () => {
  it("does not start a lead's turn for it, and puts it first into the next turn", () => {
    const queue = new TurnQueue("lead");
    const [notice, message] = [entry("system", "80 % are used"), entry("ada", "hello")];
    queue.add(notice);
    expect([queue.take(false, false), queue.isEmpty, queue.heldCount, queue.hasHeldNotices]).toEqual([
      undefined,
      true,
      1,
      false,
    ]);
    queue.add(message);
    expect(queue.take(false, false)?.entries).toEqual([notice, message]);
    expect(queue.heldCount).toBe(0);
  });
});

describe("TurnQueue while a plan awaits approval (S64)", () => {
  it("returns only the answer and shutdown requests, and keeps the order of the rest", () => {
    const verdict = protocolEntry(LEAD_NAME, {
      type: "plan_approval_response",
      requestId: "p",
      approved: true,
    });
    const queue = queueOf("teammate", entry("ada", "before"));
    queue.add(typed("typed"));
    expect(take(queue, true)).toBeUndefined();
    queue.add(shutdownRequest());
    queue.add(entry("ada", "between"));
    queue.add(verdict);
    expect(take(queue, true)).toEqual([shutdownRequest().message.text, verdict.message.text]);
    expect(take(queue, true)).toBeUndefined();
    expect(take(queue, false)).toEqual(["before", "typed", "between"]);
  });
});

describe("idle notices without a tool call in a lead's TurnQueue (S32)", () => {
  it("start no turn while a member works, and one turn for all afterwards", () => {
    const queue = queueOf("lead", idleNotice("ada", 0, "a"), idleNotice("bob", 0, "b"));
    expect(queue.isEmpty).toBe(true);
    expect(queue.heldCount).toBe(2);
    expect(queue.hasHeldNotices).toBe(true);
    expect(take(queue, false, true)).toBeUndefined();
    expect(queue.take(false, false)?.entries.map(({ message }) => message.from)).toEqual(["ada", "bob"]);
    expect(queue.heldCount).toBe(0);
  });

  it("start no second turn until a member called a tool or wrote a message", () => {
    const queue = queueOf("lead", idleNotice("ada", 0));
    expect(take(queue)).toHaveLength(1);
    queue.add(idleNotice("ada", 0));
    expect(queue.hasHeldNotices).toBe(false);
    expect(take(queue)).toBeUndefined();
    queue.add(idleNotice("bob", 3));
    expect(take(queue)).toHaveLength(1);
    expect(take(queue)).toHaveLength(1);
    queue.add(idleNotice("ada", 0));
    queue.add(entry("ada", "look at this"));
    expect(take(queue)).toEqual(["look at this"]);
    expect(take(queue)).toHaveLength(1);
  });

  it("start a turn if a foreign member does not count its tool calls", () => {
    const queue = queueOf("lead", protocolEntry("ada", { type: "idle_notification", from: "ada" }));
    expect(queue.heldCount).toBe(0);
    expect(take(queue)).toHaveLength(1);
  });

  it("are held only for a lead", () => {
    const queue = queueOf("teammate", idleNotice("ada", 0));
    expect(take(queue)).toHaveLength(1);
  });

  it("are taken before the notification that their sender ended", () => {
    const queue = new TurnQueue("lead");
    const end = protocolEntry("system", {
      type: "teammate_terminated",
      name: "ada",
      message: "ada has shut down.",
    });
    const [ada, bob] = [idleNotice("ada", 0), idleNotice("bob", 0)];
    for (const one of [ada, bob, end]) queue.add(one);
    expect(queue.take(false, true)?.entries).toEqual([ada, end]);
    expect(queue.heldCount).toBe(1);
  });
});

it("TurnQueue.dropNotices › drops the notices that teammates are idle or have ended, and keeps their texts", () => {
  const end = protocolEntry("system", { type: "teammate_terminated", name: "ada", message: "ada ended." });
  const quiet = protocolEntry("bob", { type: "idle_notification", from: "bob", toolCalls: 3 });
  const result = idleNotice("bob", 3, "the tests pass");
  const queue = queueOf(
    "lead",
    end,
    idleNotice("ada", 0, ""),
    quiet,
    result,
    entry("bob", "look"),
    typed("go"),
  );
  queue.dropNotices();
  expect(take(queue)).toEqual([result.message.text, "look", "go"]);
  expect(queue.heldCount).toBe(0);
});

describe("ShutdownRequests.close", () => {
  it("settles the request and all before it", () => {
    const changes: boolean[] = [];
    const requests = new ShutdownRequests((isAsked) => changes.push(isAsked));
    for (const id of ["first", "second", "third"]) requests.add(id);
    requests.close("second");
    expect(["first", "second", "third"].filter((id) => requests.isOpen(id))).toEqual(["third"]);
    requests.close("third");
    expect(requests.newest).toBeUndefined();
    expect(changes).toEqual([true, true, true, true, false]);
  });
});
