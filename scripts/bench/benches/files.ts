import { mkdirSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { lock } from "proper-lockfile";
import { replaceFile } from "../../../src/os/files/atomic-write.ts";
import { appendLines } from "../../../src/os/files/lines.ts";
import { withLock } from "../../../src/store/lock.ts";
import type { Bench, Figure, Place, Setup } from "../figure.ts";
import { sample } from "../support/samples.ts";
import { scratch } from "../support/scratch.ts";
import { aMessage } from "../support/usual-approach.ts";

/** The cost of one file change, with and without waiting for the disk (fsync). */
export const files: Bench = {
  name: "files",
  title: "One change of one file",
  short: true,
  async run(setup) {
    const figures: Figure[] = [];
    for (const place of setup.places) figures.push(...(await figuresIn(setup, place)));
    return figures;
  },
};

async function figuresIn(setup: Setup, place: Place): Promise<readonly Figure[]> {
  const directory = scratch(place);
  const path = (name: string): string => join(directory, name);
  const text = JSON.stringify([aMessage("0")], undefined, 2);
  const line = `${JSON.stringify(aMessage("0"))}\n`;
  const works: Record<string, () => unknown> = {
    "replace by rename, with fsync of file and directory": () => replaceFile(path("a.json"), text),
    "the same without fsync": () => replaceFile(path("b.json"), text, { sync: false }),
    "append a line, with fsync": () => appendLines(path("a.jsonl"), line, true),
    "append a line, without fsync": () => appendLines(path("b.jsonl"), line, false),
    "only lock and unlock": () => withLock(path("c.json"), () => undefined),
    "the same with proper-lockfile": async () => {
      const release = await lock(path("e.json"), { realpath: false });
      await release();
    },
    "create and remove a directory": () => {
      mkdirSync(path("d.lock"));
      rmdirSync(path("d.lock"));
    },
  };
  const figures: Figure[] = [];
  // One after the other, not in turn: the next fsync would pay for a write that a file system defers.
  for (const [what, work] of Object.entries(works)) {
    const { median } = await sample(setup.amount(300, 60), work);
    figures.push({ what: `${what}, ${place.name}`, value: median, unit: "ms" });
  }
  return figures;
}
