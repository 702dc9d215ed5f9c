import { randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pending } from "../../../src/team/mailbox.ts";
import type { TeamRef } from "../../../src/team/ref.ts";
import type { Bench, Figure, Place, Room } from "../figure.ts";
import { liveThrough, markAll, sendOne, takeUpResidence } from "../support/life.ts";
import { Samples, sample, timeOf } from "../support/samples.ts";
import { benchTeam, scratch } from "../support/scratch.ts";
import { aMessage, leastDelivery, usualMark, usualRead, usualSend } from "../support/usual-way.ts";

/** Messages in a team's life so far. */
const SIZES = [0, 100, 1_000, 10_000, 100_000];
const SHORT_SIZES = [0, 1_000, 10_000];
/** Flat: at most so many times what it costs in a new team. */
const FLAT = 1.3;

/** What one message costs after so many, in milliseconds (medians). */
export interface Cost {
  readonly messages: number;
  readonly deliver: number;
  readonly read: number;
  readonly mark: number;
}

/** What the plot shows for one place. */
export interface HistoryCosts {
  readonly place: string;
  readonly ours: readonly Cost[];
  readonly usual: readonly Cost[];
  /** A lock, a write of an inbox of one message, a rename. */
  readonly least: number;
  /** Reading and parsing an inbox of one message. */
  readonly leastRead: number;
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
  const ours: Cost[] = [];
  const usual: Cost[] = [];
  const { ref } = await benchTeam(place, ["ada", "bob"]);
  await takeUpResidence(ref);
  for (const [index, size] of sizes.entries()) {
    liveThrough(ref, size - (sizes[index - 1] ?? 0));
    ours.push({ messages: size, ...(await costOfOurs(ref, room.amount(100, 30))) });
    usual.push({ messages: size, ...(await costOfUsual(place, size, size >= 10_000 ? 5 : 20)) });
  }
  const inbox = join(scratch(place), "inbox.json");
  const least = await sample(room.amount(200, 50), () => leastDelivery(inbox));
  const leastRead = await sample(room.amount(200, 50), () => JSON.parse(readFileSync(inbox, "utf8")));
  return { place: place.name, ours, usual, least: least.median, leastRead: leastRead.median };
}

type Took = { readonly [part in "deliver" | "read" | "mark"]: number[] };

/** The receiver is this process too, so that nothing is in the figures but the work itself. */
async function costOfOurs(ref: TeamRef, times: number): Promise<Omit<Cost, "messages">> {
  // The consumed messages that stay in an inbox are there before the first is measured.
  for (let i = 0; i < 60; i += 1) await sendOne(ref);
  await markAll(ref);
  const took: Took = { deliver: [], read: [], mark: [] };
  for (let turn = 0; turn < times; turn += 1) {
    took.deliver.push(await timeOf(() => sendOne(ref)));
    took.read.push(await timeOf(() => pending(ref, "bob")));
    took.mark.push(await timeOf(() => markAll(ref)));
  }
  return medians(took);
}

async function costOfUsual(place: Place, size: number, times: number): Promise<Omit<Cost, "messages">> {
  const inbox = join(scratch(place), "inbox.json");
  const read = Array.from({ length: size }, () => ({ ...aMessage(randomUUID()), read: true }));
  writeFileSync(inbox, JSON.stringify(read, undefined, 2));
  const took: Took = { deliver: [], read: [], mark: [] };
  for (let turn = 0; turn < times; turn += 1) {
    took.deliver.push(await timeOf(() => usualSend(inbox, aMessage(randomUUID()))));
    took.read.push(await timeOf(() => usualRead(inbox)));
    took.mark.push(await timeOf(() => usualMark(inbox)));
  }
  return medians(took);
}

function medians({ deliver: sent, read, mark: marked }: Took): Omit<Cost, "messages"> {
  return {
    deliver: new Samples(sent).median,
    read: new Samples(read).median,
    mark: new Samples(marked).median,
  };
}

function figuresOf({ place, ours, usual, least, leastRead }: HistoryCosts): readonly Figure[] {
  const [first] = ours;
  if (first === undefined) return [];
  return (["deliver", "read", "mark"] as const).flatMap((part) =>
    ours.map((cost, index): Figure => {
      const value = cost[part];
      const limit =
        part === "read"
          ? { what: "an inbox of one message", value: leastRead }
          : { what: "lock + write + rename", value: least };
      return {
        what: `${WORDS[part]} after ${cost.messages.toLocaleString("en")}, ${place}`,
        value,
        unit: "ms",
        beside: [limit, { what: "read all, rewrite all", value: usual[index]?.[part] ?? Number.NaN }],
        ...(cost === first
          ? {}
          : { goal: { text: `≤ ${FLAT} × after 0`, met: value <= FLAT * first[part], isCount: false } }),
      };
    }),
  );
}

const WORDS = { deliver: "deliver one", read: "read what is new", mark: "mark it as read" };
