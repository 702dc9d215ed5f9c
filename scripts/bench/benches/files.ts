import { mkdirSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { lock } from "proper-lockfile";
import { replaceFile } from "../../../src/os/files/atomic-write.ts";
import { appendDurably } from "../../../src/os/files/fs.ts";
import { withLock } from "../../../src/store/lock.ts";
import type { Bench, Figure, Place, Room } from "../figure.ts";
import { sample } from "../support/samples.ts";
import { scratch } from "../support/scratch.ts";
import { aMessage } from "../support/usual-way.ts";

/** What a change of one file costs, with the file system's word that it is on the disk and without. */
export const files: Bench = {
  name: "files",
  title: "One change of one file",
  short: true,
  async run(room) {
    const figures: Figure[] = [];
    for (const place of room.places) figures.push(...(await at(room, place)));
    return figures;
  },
};

async function at(room: Room, place: Place): Promise<readonly Figure[]> {
  const directory = scratch(place);
  const path = (name: string): string => join(directory, name);
  const text = JSON.stringify([aMessage("0")], undefined, 2);
  const line = `${JSON.stringify(aMessage("0"))}\n`;
  const works: Record<string, () => unknown> = {
    "replaced by a rename, with fsync of file and directory": () => replaceFile(path("a.json"), text),
    "the same without fsync": () => replaceFile(path("b.json"), text, { sync: false }),
    "a line appended, with fsync": () => appendDurably(path("a.jsonl"), line),
    "a line appended, without fsync": () => appendDurably(path("b.jsonl"), line, false),
    "locked and unlocked, nothing else": () => withLock(path("c.json"), () => undefined),
    "the same by proper-lockfile": async () => {
      const release = await lock(path("e.json"), { realpath: false });
      await release();
    },
    "a directory made and removed": () => {
      mkdirSync(path("d.lock"));
      rmdirSync(path("d.lock"));
    },
  };
  const figures: Figure[] = [];
  // Not in turn: what a file system puts off would be paid by whoever asks it for an fsync next.
  for (const [what, work] of Object.entries(works)) {
    const { median } = await sample(room.amount(300, 60), work);
    figures.push({ what: `${what}, ${place.name}`, value: median, unit: "ms" });
  }
  return figures;
}
