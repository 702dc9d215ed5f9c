import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkTmuxPath } from "../../../src/doctor/tmux-path.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";

test("checkTmuxPath › warns if teams is not on the PATH of the running server, for any PATH of the caller", async () => {
  const bin = join(temporaryDirectory("tt-bin-"), "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "teams"), "#!/bin/sh\n", { mode: 0o755 });
  const own = "/usr/bin:/bin";
  const t = privateTmux({ env: { PATH: own } });
  expect(await checkTmuxPath(t.env)).toEqual([]);
  t.session();
  const caller = { ...t.env, PATH: `${own}:${bin}` };
  expect(await checkTmuxPath(caller)).toMatchObject([
    { name: "tmux PATH", level: "warn", remedy: expect.stringContaining('set-environment -g PATH "$PATH"') },
  ]);
  t.tmux("set-environment", "-g", "PATH", caller.PATH);
  expect(await checkTmuxPath({ ...t.env, PATH: own })).toMatchObject([{ name: "tmux PATH", level: "ok" }]);
});
