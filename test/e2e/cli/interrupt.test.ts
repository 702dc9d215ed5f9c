import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startTimeOf } from "../../../src/os/process/identity.ts";
import { teamsIn } from "../../support/processes/built-program.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { type PrivateTmux, privateTmux } from "../../support/tmux/private-tmux.ts";
import { personInside } from "../../support/tmux/terminal-user.ts";

interface Status {
  readonly members: readonly { readonly name: string; readonly state: string; readonly paneId: string }[];
}

const LONG = {
  tools: [{ name: "Bash", input: { command: "echo $$ > pid; trap '' TERM; sleep 600; sleep 600" } }],
};
const TURNS = [LONG, LONG, { say: "I heard {{input}}", repeat: true }];
const PLAYBOOK = { version: 1, agents: { "*": TURNS } };

function place(): { readonly t: PrivateTmux; readonly teams: ReturnType<typeof teamsIn> } {
  const t = privateTmux();
  writeFileSync(join(t.home, "play.json"), JSON.stringify(PLAYBOOK));
  return { t, teams: teamsIn(t.env, t.home) };
}

/** Returns the pid of the long command once it runs. */
async function commandPid(t: PrivateTmux, previous = 0): Promise<number> {
  const file = join(t.home, "pid");
  const pid = (): number => (existsSync(file) ? Number(readFileSync(file, "utf8")) : 0);
  return eventually("the long command", () => pid() > 0 && pid() !== previous && pid());
}

const waitForEnd = (pid: number): Promise<unknown> =>
  eventually("the end of the command", () => startTimeOf(pid) === undefined);

it("interrupt › ends the turn and its commands on Esc or teams interrupt, and keeps the agent", async () => {
  const { t, teams } = place();
  await teams(["create", "crew"]);
  const spawned = await teams([
    ...["spawn", "dev", "--model", "scripted:play.json", "--permission-mode", "bypassPermissions"],
    ...["--prompt", "begin"],
  ]);
  expect(spawned.code).toBe(0);
  const state = async () =>
    (await teams(["status", "--json"])).json<Status>().members.find(({ name }) => name === "dev");
  const pane = (await state())?.paneId ?? "";
  const type = (...keys: string[]): void => void t.tmux("send-keys", "-t", pane, ...keys);

  const first = await commandPid(t);
  // Keys whose sequence begins with an escape do not interrupt.
  type("Up", "F1", "C-Left");
  type("-l", "half a line");
  await eventually("the line on the screen", () =>
    t.tmux("capture-pane", "-p", "-t", pane).includes("half a line"),
  );
  expect((await state())?.state).toBe("running");
  type("Escape");
  await waitForEnd(first);
  await eventually("dev to be idle", async () => (await state())?.state === "idle");
  expect((await teams(["interrupt", "dev", "--json"])).json()).toMatchObject({
    name: "dev",
    outcome: "idle",
  });

  // The typed line was kept; it starts the second long turn, which the command interrupts.
  type("Enter");
  const second = await commandPid(t, first);
  expect((await teams(["interrupt", "dev"])).out).toBe("dev was interrupted.\n");
  await waitForEnd(second);
  expect((await state())?.state).toBe("idle");

  type("-l", "are you there");
  type("Enter");
  await eventually("an answer", () =>
    t.tmux("capture-pane", "-p", "-t", pane).includes("I heard are you there"),
  );
  expect(t.tmux("capture-pane", "-p", "-t", pane)).toContain("interrupted");
  expect((await teams(["interrupt", "team-lead", "--json"])).error().code).toBe("RECIPIENT_INACTIVE");
  expect((await teams(["interrupt", "dev", "--as", "dev", "--json"])).error().code).toBe("NOT_LEAD");
  expect((await teams(["kill", "dev", "--force"])).code).toBe(0);
  expect((await teams(["delete", "crew"])).code).toBe(0);
});

it("interrupt › ends the lead's turn on Esc; the run continues, and restores the terminal at its end", async () => {
  const { t, teams } = place();
  const person = personInside(t, [
    ...["run", "--once", "--team", "crew", "--no-sidebar", "--playbook", "play.json"],
    ...["--permission-mode", "bypassPermissions", "begin"],
  ]);
  const first = await commandPid(t);
  person.type("Escape");
  await waitForEnd(first);
  // An interrupted turn is not a result: the run waits for the user who interrupted it.
  await person.sees("interrupted");
  person.type("-l", "go on");
  person.type("Enter");
  const second = await commandPid(t, first);
  expect((await teams(["interrupt", "team-lead@crew"])).out).toBe("team-lead was interrupted.\n");
  await waitForEnd(second);
  person.type("-l", "and now");
  person.type("Enter");
  await person.sees("I heard and now");
  expect(await person.code()).toBe(0);
  // `cat` reads the terminal again: it echoes typed text and reads by line.
  person.type("-l", "abcx");
  person.type("BSpace", "Enter");
  await person.sees(/abc\s+abc$/m);
});
