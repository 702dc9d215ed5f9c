import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { addMembers } from "../../../src/team/members/members.ts";
import { teamRef } from "../../../src/team/ref.ts";
import { GIT_IDENTITY } from "../../support/files/git.ts";
import { doneIn } from "../../support/processes/built-program.ts";
import { createRepository } from "../../support/team/landing-team.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";
import { personOutside } from "../../support/tmux/terminal-user.ts";

it("diff › shows the changes in the user's pager, and leaves Ctrl-C to it", async () => {
  const t = privateTmux();
  const cwd = join(t.home, "repository");
  mkdirSync(cwd);
  createRepository(cwd);
  await doneIn(t.env, cwd)("create", "crew");
  const root = t.env.TEAMS_HOME ?? "";
  await addMembers(teamRef({ root, runtime: join(root, "unused") }, "crew"), [{ name: "dev", cwd }]);
  writeFileSync(join(cwd, "shared.txt"), "one\ntwo\n");
  const env = { ...GIT_IDENTITY, PAGER: `trap "" INT; sed "s/^/page: /"; read key </dev/tty` };
  const person = personOutside(t, ["diff"], { cwd, env });
  await person.sees(/page: dev .*- 1 file, \+0 -1 .*page: 3 - three/s);
  person.type("C-c");
  await person.sees("^C");
  person.type("Enter");
  expect(await person.code()).toBe(0);
});
