import { existsSync, readFileSync } from "node:fs";
import { unreadMessages } from "../../../src/team/mailbox/receive.ts";
import type { TeamRef } from "../../../src/team/ref.ts";
import { type Bench, countAtMost, type Figure } from "../figure.ts";
import { markAll, NEW_TEAM, registerRecipient, sendOne, writeHistory } from "../support/message-history.ts";
import { benchTeam } from "../support/scratch.ts";

const OWN_IO = "/proc/self/io";

/**
 * The kernel's byte counts for one message, which do not depend on the machine's speed. Only Linux reports
 * them.
 */
export const counts: Bench = {
  name: "counts",
  title: "Bytes that one message moves",
  short: true,
  async run(setup) {
    const [place] = setup.places;
    if (place === undefined || !existsSync(OWN_IO)) return [];
    const { ref } = await benchTeam(place, ["ada", "bob"]);
    await registerRecipient(ref);
    await writeHistory(ref, NEW_TEAM);
    const fresh = await bytesOfOne(ref);
    await writeHistory(ref, 10_000);
    const after = await bytesOfOne(ref);
    return Object.entries(after).flatMap(([what, value]): Figure[] => {
      const first = fresh[what] ?? 0;
      return [
        { what: `${what}, in a new team`, value: first, unit: "bytes" },
        {
          what: `${what}, after 10,000 messages`,
          value,
          unit: "bytes",
          // They are not exactly equal: a time or a number in a file may be longer.
          goal: countAtMost(first * 1.3, value, "≤ 1.3 × new"),
        },
      ];
    });
  },
};

async function bytesOfOne(ref: TeamRef): Promise<Record<string, number>> {
  const bytes: Record<string, number> = {};
  const steps = {
    "to deliver it": () => sendOne(ref),
    "to read it": () => unreadMessages(ref, "bob"),
    "to mark it": () => markAll(ref),
  };
  for (const [what, step] of Object.entries(steps)) {
    const before = moved();
    await step();
    const after = moved();
    bytes[`read ${what}`] = after.read - before.read;
    bytes[`written ${what}`] = after.written - before.written;
  }
  return bytes;
}

/** Returns the bytes that this process has read and written so far; the call itself reads about a hundred. */
function moved(): { readonly read: number; readonly written: number } {
  const text = readFileSync(OWN_IO, "utf8");
  const count = (name: string): number => Number(new RegExp(`^${name}: (\\d+)$`, "m").exec(text)?.[1]);
  return { read: count("rchar"), written: count("wchar") };
}
