import { randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pending } from "../../../src/team/mailbox.ts";
import type { TeamRef } from "../../../src/team/ref.ts";
import type { Bench, Figure, Place, Room } from "../figure.ts";
import { liveThrough, markAll, NEW_TEAM, sendOne, takeUpResidence } from "../support/life.ts";
import { sampleInTurn, timeOf } from "../support/samples.ts";
import { benchTeam, scratch } from "../support/scratch.ts";
import { aMessage, leastDelivery, usualMark, usualRead, usualSend } from "../support/usual-way.ts";

/** Messages in a team's life so far, on top of those of a new team. */
const SIZES = [0, 100, 1_000, 10_000, 100_000];
const SHORT_SIZES = [0, 1_000, 10_000];
/** Flat: at most so many times what it costs in a new team. */
const FLAT = 1.3;

/** What one message costs after so many, in milliseconds (medians). */
export interface Cost {
  readonly deliver: number;
  readonly read: number;
  readonly mark: number;
}

/** The same, and the limits that were measured right behind it. */
export interface OwnCost extends Cost {
  /** A lock, a write of an inbox of one message, a rename. */
  readonly least: number;
  /** Reading and parsing an inbox of one message. */
  readonly leastRead: number;
}

/** What the plot shows for one place. */
export interface HistoryCosts {
  readonly place: string;
  /** Messages in the team's life before. */
  readonly sizes: readonly number[];
  /** For each size. */
  readonly ours: readonly OwnCost[];
  readonly usual: readonly Cost[];
}

/** Of the last run of this bench, for the plot. */
export const historyCosts: HistoryCosts[] = [];

/** One message after none, a thousand, …, a hundred thousand: ours, and the way it is usually done. */
export const history: Bench = {
  name: "history",
  title: "One message after a long life of the team",
  short: true,
  async run(room) {
    historyCosts.length = 0;
    for (const place of room.places) historyCosts.push(await costsAt(room, place));
    return historyCosts.flatMap(figuresOf);
  },
};

async function costsAt(room: Room, place: Place): Promise<HistoryCosts> {
  const sizes = room.short ? SHORT_SIZES : SIZES;
  const ours: OwnCost[] = [];
  const usual: Cost[] = [];
  const { ref } = await benchTeam(place, ["ada", "bob"]);
  await takeUpResidence(ref);
  await liveThrough(ref, NEW_TEAM);
  for (const [index, size] of sizes.entries()) {
    await liveThrough(ref, size - (sizes[index - 1] ?? 0));
    ours.push(await costOfOurs(ref, join(scratch(place), "inbox.json"), room.amount(100, 30)));
    usual.push(await costOfUsual(join(scratch(place), "inbox.json"), size, size >= 10_000 ? 5 : 20));
  }
  return { place: place.name, sizes, ours, usual };
}

/**
 * The receiver is this process too, so that nothing is in the figures but the work itself. The limits come behind it and
 * not in between: what a file system puts off would be paid by whoever asks it for an fsync next.
 */
async function costOfOurs(ref: TeamRef, other: string, times: number): Promise<OwnCost> {
  const cost = await mediansOf(times, {
    deliver: () => sendOne(ref),
    read: () => pending(ref, "bob"),
    mark: () => markAll(ref),
  });
  const limits = await mediansOf(times, {
    least: () => leastDelivery(other),
    leastRead: () => JSON.parse(readFileSync(other, "utf8")),
  });
  return { ...cost, ...limits };
}

function costOfUsual(inbox: string, size: number, times: number): Promise<Cost> {
  const read = Array.from({ length: size }, () => ({ ...aMessage(randomUUID()), read: true }));
  writeFileSync(inbox, JSON.stringify(read, undefined, 2));
  return mediansOf(times, {
    deliver: () => usualSend(inbox, aMessage(randomUUID())),
    read: () => usualRead(inbox),
    mark: () => usualMark(inbox),
  });
}

/** The works are done in turn, so many times. */
async function mediansOf<T extends string>(
  times: number,
  works: Readonly<Record<T, () => unknown>>,
): Promise<Record<T, number>> {
  const names = Object.keys(works) as T[];
  const samples = await sampleInTurn(
    times,
    names.map((name) => () => timeOf(works[name])),
  );
  return Object.fromEntries(names.map((name, index) => [name, samples[index]?.median])) as Record<T, number>;
}

function figuresOf({ place, sizes, ours, usual }: HistoryCosts): readonly Figure[] {
  const [first] = ours;
  if (first === undefined) return [];
  return (["deliver", "read", "mark"] as const).flatMap((part) =>
    ours.map((cost, index): Figure => {
      const value = cost[part];
      const limit =
        part === "read"
          ? { what: "an inbox of one message", value: cost.leastRead }
          : { what: "lock + write + rename", value: cost.least };
      return {
        what: `${WORDS[part]} ${lifeOf(sizes[index] ?? 0)}, ${place}`,
        value,
        unit: "ms",
        beside: [limit, { what: "read all, rewrite all", value: usual[index]?.[part] ?? Number.NaN }],
        ...(cost === first
          ? {}
          : { goal: { text: `≤ ${FLAT} × new`, met: value <= FLAT * first[part], isCount: false } }),
      };
    }),
  );
}

function lifeOf(messages: number): string {
  return messages === 0 ? "in a new team" : `after ${messages.toLocaleString("en")} messages`;
}

const WORDS = { deliver: "deliver one", read: "read what is new", mark: "mark it as read" };
