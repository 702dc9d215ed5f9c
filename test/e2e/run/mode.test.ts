import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { teamsIn } from "../../support/built.ts";
import { eventually } from "../../support/eventually.ts";
import { personInside } from "../../support/person.ts";
import { privateTmux } from "../../support/tmux-server.ts";

const bash = (command: string) => ({ name: "Bash", input: { command } });

it("a lead's own mode is changed while it runs, from its next call on", async () => {
  const t = privateTmux();
  const teams = teamsIn(t.env, t.home);
  const tools = [bash("touch begun; until [ -e go ]; do sleep 0.05; done"), bash("touch ran")];
  const agents = { "team-lead": [{ tools }, { say: "That was all." }] };
  writeFileSync(join(t.home, "wait.json"), JSON.stringify({ version: 1, agents }));
  const words = ["run", "--team", "crew", "--playbook", "wait.json", "--no-sidebar"];
  const person = personInside(t, [...words, "--permission-mode", "bypassPermissions"]);
  await eventually("the first call", () => existsSync(join(t.home, "begun")), 20_000);
  expect((await teams(["mode", "team-lead", "plan"])).code).toBe(0);
  await person.sees("permission mode is now plan");
  writeFileSync(join(t.home, "go"), "");
  await person.sees("That was all.");
  expect(existsSync(join(t.home, "ran"))).toBe(false);
  expect(await person.code()).toBe(0);
});
