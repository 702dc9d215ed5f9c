import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { TeamStatus } from "../../../src/operations/status.ts";
import { doneIn, teamsIn } from "../../support/processes/built-program.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { iterm2 } from "../../support/tmux/fake-iterm2.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";

const SPAWN = ["--model", "scripted:play.json", "--permission-mode", "bypassPermissions"] as const;

it("iterm2 mode › runs a teammate in an iTerm2 window that every command finds", async () => {
  const { t, terminal, teams, done } = await crew();
  mkdirSync(t.root, { recursive: true });
  writeFileSync(join(t.root, "settings.json"), JSON.stringify({ teammateMode: "iterm2" }));
  const ada = (await done("spawn", "ada", ...SPAWN, "--prompt", "hello", "--json")).json();
  const [window] = terminal.sessions();
  expect(ada).toMatchObject({
    backend: "iterm2",
    paneId: window,
    why: expect.stringContaining("teammate mode iterm2"),
  });
  const member = async () => (await done("status", "--json")).json<TeamStatus>().members[1];
  expect(await member()).toMatchObject({ backend: "iterm2", paneId: window, alive: true });
  await eventually("ada's answer", async () => (await done("peek", "ada")).out.includes("I heard hello"));

  expect((await done("attach", "ada")).out).toBe("Switched to ada.\n");
  expect(terminal.focus()).toBe(window);
  expect((await teams(["hide", "ada", "--json"])).error().code).toBe("RECIPIENT_INACTIVE");
  expect((await teams(["spawn", "bob", "--here", ...SPAWN, "--json"])).error()).toMatchObject({
    code: "INVALID_INPUT",
    message: expect.stringContaining("only in a new window"),
  });

  process.kill((await member())?.pid ?? 0, "SIGKILL");
  await eventually("ada's crash", async () => (await member())?.state === "crashed");
  await done("resume");
  expect(await member()).toMatchObject({ backend: "iterm2", alive: true });
  expect(terminal.sessions()).not.toContain(window);
  expect(terminal.sessions()).toHaveLength(1);

  await done("shutdown", "ada", "--timeout", "180");
  expect((await done("status", "--json")).json<TeamStatus>().members).toHaveLength(1);
  await eventually("the window's end", () => terminal.sessions().length === 0);
});

it("iterm2 mode › is refused with a hint outside iTerm2 or without it2", async () => {
  const { t, teams } = await crew();
  const words = ["spawn", "ada", ...SPAWN, "--teammate-mode", "iterm2", "--json"];
  const elsewhere = await teams(words, { env: { TERM_PROGRAM: "", ITERM_SESSION_ID: "" } });
  expect(elsewhere.error()).toMatchObject({ code: "INVALID_INPUT" });
  const without = await teams(words, { env: { PATH: t.env.PATH } });
  expect([without.code, without.error().code]).toEqual([6, "CLI_NOT_FOUND"]);
});

/** Creates a team that a user leads from a shell in iTerm2. */
async function crew() {
  const t = privateTmux();
  const terminal = iterm2(t);
  const teams = teamsIn(terminal.env, t.home);
  const playbook = { version: 1, agents: { "*": [{ say: "I heard {{input}}", repeat: true }] } };
  writeFileSync(join(t.home, "play.json"), JSON.stringify(playbook));
  const done = doneIn(terminal.env, t.home);
  await done("create", "crew");
  return { t, terminal, teams, done };
}
