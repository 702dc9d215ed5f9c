import { execFile } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { TEAMS, teamsIn } from "../../support/processes/built-program.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";

test("export and import › work through a pipe, and a saved archive is private under any umask", async () => {
  const { env, home } = privateTmux();
  const teams = teamsIn(env, home);
  await teams(["create", "review"]);
  await teams(["task", "add", "Read it", "--team", "review"]);
  const pipe = `umask 0; "$NODE" "$TEAMS" export review -o - | "$NODE" "$TEAMS" import - --name copy --json`;
  const { stdout } = await promisify(execFile)("sh", ["-c", pipe], {
    env: { ...env, NODE: process.execPath, TEAMS },
    cwd: home,
  });
  expect(JSON.parse(stdout)).toMatchObject({ team: "copy", from: "review", tasks: 1 });
  expect((await teams(["task", "list", "--team", "copy", "--json"])).json()).toMatchObject({
    tasks: [{ id: "1", subject: "Read it" }],
  });
  const saved = await promisify(execFile)(
    "sh",
    ["-c", `umask 0; "$NODE" "$TEAMS" export review -o x.tar.gz`],
    {
      env: { ...env, NODE: process.execPath, TEAMS },
      cwd: home,
    },
  );
  expect(saved.stdout).toContain("Saved team review");
  expect(statSync(join(home, "x.tar.gz")).mode & 0o777).toBe(0o600);
});
