import { randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { unreadMessages } from "../../../src/team/mailbox/receive.ts";
import type { TeamRef } from "../../../src/team/ref.ts";
import type { Bench, Figure, Place, Setup } from "../figure.ts";
import { markAll, NEW_TEAM, registerRecipient, sendOne, writeHistory } from "../support/message-history.ts";
import { sample, sampleInTurn, timeOf } from "../support/samples.ts";
import { benchTeam, scratch } from "../support/scratch.ts";
import { aMessage, leastDelivery, usualMark, usualRead, usualSend } from "../support/usual-approach.ts";

/** Messages in a team's history so far, in addition to those of a new team. */
const SIZES = [0, 100, 1_000, 10_000, 100_000];
const SHORT_SIZES = [0, 1_000, 10_000];
/** Flat: at most this many times the cost in a new team. */
const FLAT = 1.3;

const PARTS = ["deliver", "read", "mark"] as const;

/** Milliseconds for one message after a history (medians). */
export interface Cost {
  readonly deliver: number;
  readonly read: number;
  readonly mark: number;
}

/** The data of the plot for one place. */
export interface HistoryCosts {
  readonly place: string;
  /** Messages in the team's history. */
  readonly sizes: readonly number[];
  /** One for each size. */
  readonly ours: readonly Cost[];
  readonly usual: readonly Cost[];
  /** A lock, a write of an inbox of one message, and a rename. */
  readonly least: number;
  /** Reading and parsing an inbox of one message. */
  readonly leastRead: number;
}

/** The costs of the last run of this bench, for the plot. */
export const historyCosts: HistoryCosts[] = [];

/** One message after none, a hundred, …, a hundred thousand: with teams, and with the usual approach. */
export const history: Bench = {
  name: "history",
  title: "One message to a team with a long history",
  short: true,
  async run(setup) {
    historyCosts.length = 0;
    for (const place of setup.places) historyCosts.push(await costsAt(setup, place));
    return historyCosts.flatMap(figuresOf);
  },
};

/**
 * Measures the sizes in turn, so that a machine with a drifting speed treats them alike. The usual approach
 * is measured afterwards and not in between: the next fsync pays for a write that a file system defers.
 */
async function costsAt(setup: Setup, place: Place): Promise<HistoryCosts> {
  const sizes = setup.short ? SHORT_SIZES : SIZES;
  const teams: TeamRef[] = [];
  for (const size of sizes) teams.push(await teamWithHistory(place, size));
  const ours = await costsInTurn(setup.amount(100, 30), teams, {
    deliver: (ref) => sendOne(ref),
    read: (ref) => unreadMessages(ref, "bob"),
    mark: (ref) => markAll(ref),
  });
  const one = join(scratch(place), "inbox.json");
  const least = await sample(setup.amount(200, 50), () => leastDelivery(one));
  const leastRead = await sample(setup.amount(200, 50), () => JSON.parse(readFileSync(one, "utf8")));
  const usual: Cost[] = [];
  // One size after the other, so that the garbage of the largest does not slow down the smallest.
  for (const size of sizes) {
    const inbox = usualInbox(place, size);
    usual.push(
      ...(await costsInTurn(size < 10_000 ? setup.amount(100, 30) : 9, [inbox], {
        deliver: () => usualSend(inbox, aMessage(randomUUID())),
        read: () => usualRead(inbox),
        mark: () => usualMark(inbox),
      })),
    );
  }
  return { place: place.name, sizes, ours, usual, least: least.median, leastRead: leastRead.median };
}

/** Creates a team with a history. This process is also the recipient, so that the figures contain only the work itself. */
async function teamWithHistory(place: Place, messages: number): Promise<TeamRef> {
  const { ref } = await benchTeam(place, ["ada", "bob"]);
  await registerRecipient(ref);
  await writeHistory(ref, NEW_TEAM + messages);
  return ref;
}

function usualInbox(place: Place, messages: number): string {
  const inbox = join(scratch(place), "inbox.json");
  const read = Array.from({ length: messages }, () => ({ ...aMessage(randomUUID()), read: true }));
  writeFileSync(inbox, JSON.stringify(read, undefined, 2));
  return inbox;
}

/** @returns the medians of the parts, for each item */
async function costsInTurn<T>(
  times: number,
  all: readonly T[],
  works: Readonly<Record<keyof Cost, (one: T) => unknown>>,
): Promise<readonly Cost[]> {
  const samples = await sampleInTurn(
    times,
    all.flatMap((one) => PARTS.map((part) => () => timeOf(() => works[part](one)))),
  );
  return all.map((_, index) => {
    const [deliver, read, mark] = PARTS.map(
      (_, at) => samples[index * PARTS.length + at]?.median ?? Number.NaN,
    );
    return { deliver, read, mark } as Cost;
  });
}

function figuresOf({ place, sizes, ours, usual, least, leastRead }: HistoryCosts): readonly Figure[] {
  const [first] = ours;
  if (first === undefined) return [];
  return PARTS.flatMap((part) =>
    ours.map((cost, index): Figure => {
      const value = cost[part];
      const limit =
        part === "read"
          ? { what: "an inbox of one message", value: leastRead }
          : { what: "lock + write + rename", value: least };
      return {
        what: `${WORDS[part]} ${historyText(sizes[index] ?? 0)}, ${place}`,
        value,
        unit: "ms",
        references: [limit, { what: "read all, rewrite all", value: usual[index]?.[part] ?? Number.NaN }],
        ...(cost === first
          ? {}
          : { goal: { text: `≤ ${FLAT} × new`, met: value <= FLAT * first[part], isCount: false } }),
      };
    }),
  );
}

function historyText(messages: number): string {
  return messages === 0 ? "in a new team" : `after ${messages.toLocaleString("en")} messages`;
}

const WORDS = { deliver: "deliver one", read: "read new messages", mark: "mark as read" };
