import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { teamsIn } from "../../support/processes/built-program.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";

const PLAYBOOK = { version: 1, agents: { "*": [{ say: "I heard {{input}}", repeat: true }] } };

it("type and keys › reach an agent's pane as a person would, and never a draft, copy mode or another pane", async () => {
  const t = privateTmux();
  writeFileSync(join(t.home, "play.json"), JSON.stringify(PLAYBOOK));
  const teams = teamsIn(t.env, t.home);
  await teams(["create", "crew"]);
  const spawned = await teams(["spawn", "dev", "--model", "scripted:play.json", "--prompt", "begin"]);
  expect(spawned.code, spawned.err).toBe(0);
  const { members } = (await teams(["status", "--json"])).json<{
    members: { name: string; paneId: string }[];
  }>();
  const pane = members.find(({ name }) => name === "dev")?.paneId ?? "";
  const shows = (text: string): Promise<unknown> =>
    eventually(text, () => t.tmux("capture-pane", "-p", "-t", pane).includes(text));
  await shows("I heard");

  const typed = await teams(["type", "dev", "--json", "Look", "here"]);
  expect([typed.code, typed.json()]).toEqual([
    0,
    { team: "crew", name: "dev", typed: true, confirmed: true },
  ]);
  await shows("I heard Look here");

  t.tmux("send-keys", "-t", pane, "-l", "half a line");
  await shows("half a line");
  const overDraft = await teams(["type", "dev", "--json", "more"]);
  expect([overDraft.code, overDraft.error().message]).toEqual([
    expect.any(Number),
    'Nothing was typed into the pane of dev: a person has typed "half a line" there.',
  ]);
  expect(overDraft.code).not.toBe(0);
  expect((await teams(["keys", "dev", "C-u"])).code).toBe(0);
  await eventually("the empty line", () => !t.tmux("capture-pane", "-p", "-t", pane).includes("half a line"));
  expect((await teams(["type", "dev", "-"], { stdin: "two\nlines\n" })).code).toBe(0);
  await shows("I heard two");

  t.tmux("copy-mode", "-t", pane);
  for (const words of [
    ["type", "dev", "more"],
    ["keys", "dev", "Enter"],
  ]) {
    expect((await teams([...words, "--json"])).error().message).toContain("it is in copy mode");
  }
  t.tmux("send-keys", "-t", pane, "-X", "cancel");
  expect((await teams(["keys", "dev", "--json", "Escapee"])).error()).toMatchObject({
    code: "INVALID_INPUT",
  });
  const asAgent = await teams(["keys", "dev", "y", "Enter", "--json"], {
    env: { ...t.env, TEAMS_AGENT: "dev@crew" },
  });
  expect(asAgent.error()).toMatchObject({ code: "PERMISSION_DENIED" });
  const other = t.tmux("split-window", "-d", "-t", pane, "-P", "-F", "#{pane_id}", "--", "cat");
  t.tmux("kill-pane", "-t", pane);
  expect((await teams(["keys", "dev", "y", "Enter", "--json"])).error().message).toContain(
    "No key was pressed",
  );
  expect(t.tmux("capture-pane", "-p", "-t", other).trim()).toBe("");
});

it("type › names teams send for a member without a pane", async () => {
  const t = privateTmux();
  writeFileSync(join(t.home, "play.json"), JSON.stringify(PLAYBOOK));
  const teams = teamsIn(t.env, t.home);
  await teams(["create", "crew"]);
  await teams([
    "spawn",
    "dev",
    "--model",
    "scripted:play.json",
    "--prompt",
    "begin",
    "--teammate-mode",
    "process",
  ]);
  expect((await teams(["type", "dev", "hi", "--json"])).error()).toMatchObject({
    code: "RECIPIENT_INACTIVE",
    hint: "To send a message: teams send dev",
  });
});

/** Draws above its input line for two seconds, as a program does at the end of a turn. */
const DRAWS = `let n = 0;
const clock = setInterval(() => process.stdout.write("\\x1b7\\x1b[1;1H" + (n += 1) + "\\x1b8"), 4);
setTimeout(() => clearInterval(clock), 2000);
process.stdout.write("\\n\\n\\n");
process.stdin.on("data", (text) => process.stdout.write("got " + text));`;

it("type › waits until a program stops drawing, and then types", async () => {
  const t = privateTmux();
  const teams = teamsIn(t.env, t.home);
  await teams(["create", "crew"]);
  const words = ["-d", "-s", "work", "-x", "100", "-y", "24", "-P", "-F", "#{pane_id}"];
  const pane = t.tmux("new-session", ...words, "--", process.execPath, "-e", DRAWS).trim();
  const adopted = await teams(["adopt", pane, "--name", "ada"]);
  expect(adopted.code, adopted.err).toBe(0);
  const typed = await teams(["type", "ada", "hello"]);
  expect([typed.code, typed.err]).toEqual([0, ""]);
  await eventually("the text", () => t.tmux("capture-pane", "-p", "-t", pane).includes("got hello"));
});

it("keys › says why it pressed no key in a pane", async () => {
  const t = privateTmux();
  const teams = teamsIn(t.env, t.home);
  await teams(["create", "crew"]);
  t.tmux("new-session", "-d", "-s", "work", "-x", "100", "-y", "24", "--", "cat");
  const window = ["-d", "-t", "=work:", "-P", "-F", "#{pane_id}", "--", "cat"];
  // In a format with times, tmux pads %5, but neither %0 nor %1.
  const panes = Array.from({ length: 5 }, () => t.tmux("new-window", ...window).trim());
  const pane = panes.at(-1) ?? "";
  const adopted = await teams(["adopt", pane, "--name", "ada"]);
  expect(adopted.code, adopted.err).toBe(0);
  const refusal = async (): Promise<string> =>
    (await teams(["keys", "ada", "x", "--json"])).error().message ?? "";
  t.tmux("copy-mode", "-t", pane);
  expect(await refusal()).toBe("No key was pressed in the pane of ada: it is in copy mode.");
  expect((await teams(["type", "ada", "hi", "--json"])).error().message).toContain("it is in copy mode");
  t.tmux("send-keys", "-t", pane, "-X", "cancel");
  t.tmux("select-pane", "-d", "-t", pane);
  expect(await refusal()).toContain("its input is off");
  t.tmux("select-pane", "-e", "-t", pane);
  t.tmux("set-option", "-w", "-t", pane, "synchronize-panes", "on");
  expect(await refusal()).toContain("synchronize-panes");
  t.tmux("set-option", "-w", "-t", pane, "synchronize-panes", "off");
  expect((await teams(["keys", "ada", "x"])).err).toBe("");
});
