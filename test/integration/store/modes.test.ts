import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";
import { script } from "../../support/processes/script-process.ts";

const makeFiles = script("store/make-files");

test.each(["0", "22", "277", "777"])(
  "file modes › are 0600 for files and 0700 for directories under umask %s, which stays unchanged",
  async (umask) => {
    const directory = temporaryDirectory();
    const maker = makeFiles(umask, directory);
    expect(await maker.line()).toBe(umask);
    expect(await maker.ended()).toMatchObject({ code: 0, stderr: "" });
    const names = readdirSync(directory, { recursive: true }) as string[];
    expect(names.map((name) => name.replace(/-.*/, "")).sort()).toEqual([
      "appended",
      "below",
      "below/twice",
      "changed",
      "ensured",
      "ensured/twice",
      "lines.jsonl",
      "replaced",
      "spawned",
      "temporary",
      "whole",
    ]);
    for (const name of names) {
      const entry = statSync(join(directory, name));
      expect([name, (entry.mode & 0o7777).toString(8)]).toEqual([name, entry.isDirectory() ? "700" : "600"]);
    }
  },
);
