import { appendFileSync, realpathSync, writeFileSync } from "node:fs";
import { platform } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { diffSince } from "../../../src/git/diff.ts";
import { GIT_IDENTITY, git } from "../../support/files/git.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";

const ENV = { ...process.env, ...GIT_IDENTITY };

// The file systems of macOS refuse such names.
test.skipIf(platform() === "darwin")("diff › distinguishes files whose names are not UTF-8", async () => {
  const top = realpathSync(temporaryDirectory());
  const named = (byte: number): Buffer => Buffer.concat([Buffer.from(join(top, "caf")), Buffer.from([byte])]);
  git(top, "init", "--quiet", "--initial-branch=main");
  writeFileSync(named(0xe9), "one\n");
  git(top, "add", "--all");
  git(top, "commit", "--quiet", "--message", "first");
  appendFileSync(named(0xe9), "zwölf\n");
  writeFileSync(named(0xe8), "new\n");
  writeFileSync(join(top, "ä�.txt"), "new\n");
  const { files, patch } = await diffSince(top, "HEAD", ENV);
  expect(files.map(({ path, status }) => [path, status])).toEqual([
    ["$'caf\\xe8'", "added"],
    ["$'caf\\xe9'", "modified"],
    ["ä�.txt", "added"],
  ]);
  expect(patch).toContain("+zwölf");
});
