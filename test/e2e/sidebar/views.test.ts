import { execFileSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { memberTeam } from "../../support/cli/member-team.ts";
import { teamsIn } from "../../support/processes/built-program.ts";
import { scriptFile } from "../../support/processes/script-process.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";
import { personInside } from "../../support/tmux/terminal-user.ts";

const PLAYBOOK = {
  version: 1,
  agents: {
    dev: [
      { say: "Hello from dev." },
      { on: { contains: "comment" }, say: "I saw the comment.", repeat: true },
    ],
    asker: [
      { tools: [{ name: "Bash", input: { command: `${"echo one two three; ".repeat(30)}touch asked` } }] },
    ],
    "*": [{ say: "Ready." }],
  },
};

it.each([
  [120, 40],
  [40, 10],
])("sidebar › acts on a real team from a terminal of %i × %i", async (width, height) => {
  const t = privateTmux();
  const teams = teamsIn(t.env, t.home);
  const git = (...words: string[]) =>
    execFileSync("git", ["-C", t.home, "-c", "user.name=a", "-c", "user.email=a@b.c", ...words]);
  writeFileSync(join(t.home, ".gitignore"), "*\n!notes.txt\n");
  writeFileSync(join(t.home, "notes.txt"), "one\ntwo\n");
  git("init", "-q");
  git("add", "notes.txt");
  git("commit", "-qm", "notes");
  writeFileSync(join(t.home, "notes.txt"), "one\n2\n");
  writeFileSync(join(t.home, "play.json"), JSON.stringify(PLAYBOOK));
  await teams(["create", "other"]);
  await teams(["create", "crew"]);
  const how = ["--team", "crew", "--model", "scripted:play.json", "--teammate-mode", "process"];
  expect((await teams(["spawn", "dev", "--prompt", "begin", ...how])).code).toBe(0);
  const person = personInside(t, ["sidebar", "crew"], { size: { width, height } });
  const screen = (): string => t.tmux("capture-pane", "-p", "-t", person.pane);
  const sees = (text: string): Promise<boolean> =>
    eventually(`${text} in ${width} columns`, () => screen().includes(text)).catch((cause: unknown) => {
      throw new Error(`The screen:\n${screen()}`, { cause });
    });
  const inbox = async (): Promise<string> => (await teams(["inbox", "dev", "--all", "--json"])).out;
  await sees("dev");

  person.type("j", "l");
  await sees("Hello from dev.");
  person.type("q");
  await sees("q close");

  person.type("d");
  await sees("2 + 2");
  person.type("j", "j", "j", "c");
  await sees("line 2: ▏");
  person.type("-l", "a comment");
  person.type("Enter");
  await sees("✎ a comment");
  person.type("s");
  await sees("sent 1 comment");
  expect(await inbox()).toContain("notes.txt:2\\n> 2\\n\\na comment");
  person.type("q");
  await sees("q close");
  person.type("l");
  await sees("I saw the comment.");
  person.type("q");
  await sees("q close");

  person.type("m");
  await sees("to dev: ▏");
  person.type("-l", "a second comment");
  person.type("Enter");
  await eventually("the message", async () => (await inbox()).includes("a second comment"));
  person.type("Escape");
  await sees("m write");
  person.type("q");
  await sees("q close");

  expect((await teams(["spawn", "asker", "--prompt", "begin", ...how])).code).toBe(0);
  await sees("asker asks");
  person.type("n");
  // A wide sidebar shows the whole request in its list; a narrow sidebar opens it. A key pressed just after the
  // request appears does not answer it.
  let presses = 0;
  await eventually("the whole request, or the line for a note", () => {
    const shown = screen();
    if (/read the request to its end|approve asker:/.test(shown)) return true;
    if (presses === 0 || shown.includes("then press a")) person.type("a");
    presses += 1;
    return false;
  });
  person.type("G");
  // A key pressed just after the end of the request appears does not answer it.
  await eventually("the line for a note", () => {
    const shown = screen();
    if (shown.includes("approve asker:")) return true;
    person.type("y");
    return false;
  });
  person.type("C-u", "Enter");
  await eventually("the last answer", async () => {
    const { approvals } = (await teams(["approvals", "--team", "crew", "--json"])).json<{
      approvals: object[];
    }>();
    return approvals.length === 0;
  });

  person.type("g", "j", "K");
  await sees("kill dev?");
  person.type("y");
  await sees("dev has ended");
  expect((await teams(["status", "crew", "--json"])).out).not.toContain('"dev"');
  await teams(["task", "add", "Mend it", "--team", "crew"]);
  person.type("t");
  await sees("Mend it");
  person.type("o");
  await sees("#1 · task");
  await sees("state:      pending");
  person.type("q", "t", "T");
  await sees("other");
  person.type("G", "Enter");
  await eventually("the other team", () => screen().startsWith(" other"));
  person.type("q");
  expect(await person.code()).toBe(0);
  await teams(["kill", "--team", "crew", "--force"]);
});

it("sidebar › spawns a teammate, and shows why a spawn fails", async () => {
  const t = privateTmux();
  const teams = teamsIn(t.env, t.home);
  await teams(["create", "crew"]);
  const person = personInside(t, ["sidebar", "crew"], { size: { width: 60, height: 24 } });
  const spawn = async (name: string): Promise<void> => {
    await person.sees("+ spawn");
    person.type("+");
    await person.sees("new teammate's name: ▏");
    person.type("-l", name);
    person.type("Enter");
    await person.sees(`task of ${name}: ▏`);
    person.type("-l", "look around");
    person.type("Enter");
  };
  await spawn("ada");
  await person.sees("ada is ready");
  const status = await teams(["status", "crew", "--json"]);
  expect(status.json<{ members: { name: string }[] }>().members.map(({ name }) => name)).toContain("ada");
  person.type("j");
  await spawn("team-lead");
  await person.sees("✗ ");
  person.type("+");
  await person.sees("new teammate's name: team-lead▏");
  person.type("Enter");
  await person.sees("task of team-lead: look around▏");
  person.type("Escape");
  await person.sees("q close");
  person.type("q");
  await teams(["kill", "--team", "crew", "--force"]);
});

const touch = (file: string) => ({ name: "Bash", input: { command: `touch ${file}` } });
const ASKING = {
  version: 1,
  agents: {
    dev: [
      { on: { contains: "begin" }, tools: [touch("made")] },
      { on: { tool: "Bash" }, tools: [touch("made")] },
      { on: { tool: "Bash" }, tools: [touch("other")] },
      { say: "It is done.", repeat: true },
    ],
    "*": [{ say: "Ready." }],
  },
};

it("sidebar › always allows a command, and interrupts, zooms and shuts down a teammate by keys", async () => {
  const t = privateTmux();
  writeFileSync(join(t.home, "play.json"), JSON.stringify(ASKING));
  const teams = teamsIn(t.env, t.home);
  await teams(["create", "crew"]);
  const person = personInside(t, ["sidebar", "crew"], { size: { width: 120, height: 40 } });
  await t.attach("=work:", { width: 120, height: 40 });
  await person.sees("q close");
  const spawn = async (name: string, ...more: readonly string[]): Promise<string> => {
    const words = ["spawn", name, "--team", "crew", "--model", "scripted:play.json", "--json", ...more];
    const spawned = await teams(words, { env: t.inside(person.pane) });
    expect([spawned.err, spawned.code]).toEqual(["", 0]);
    return spawned.json<{ paneId: string }>().paneId;
  };
  const asked = async (): Promise<readonly string[]> => {
    const listed = await teams(["approvals", "--team", "crew", "--json"]);
    return listed.json<{ approvals: { summary: string }[] }>().approvals.map(({ summary }) => summary);
  };
  const members = async (): Promise<readonly string[]> => {
    const status = await teams(["status", "crew", "--json"]);
    return status.json<{ members: { name: string }[] }>().members.map(({ name }) => name);
  };
  await spawn("ada");
  const dev = await spawn("dev", "--prompt", "begin");
  await person.sees("dev asks");
  person.type("n", "v");
  await person.sees("always: Bash(touch made)");
  // A key pressed just after the request appears does not answer it.
  await eventually("the line for a note", () => {
    if (person.screen().includes("always allow dev:")) return true;
    person.type("a");
    return false;
  });
  person.type("C-u", "Enter");
  // The second call of the same command does not ask.
  await eventually("the next request", async () => (await asked()).join() === "Bash(touch other)");
  expect(existsSync(join(t.home, "made"))).toBe(true);

  await person.sees("touch other");
  person.type("i");
  await eventually("the end of the turn", async () => (await asked()).length === 0);
  expect(existsSync(join(t.home, "other"))).toBe(false);

  const client = (): string => t.tmux("list-clients", "-F", "#{pane_id} #{window_zoomed_flag}");
  expect(client()).toBe(`${person.pane} 0`);
  person.type("z");
  await eventually("dev's zoomed pane", () => client() === `${dev} 1`);

  person.type("s");
  await eventually("the end of dev", async () => !(await members()).includes("dev"));
  expect(await members()).toContain("ada");
  person.type("q");
  expect(await person.code()).toBe(0);
  await teams(["kill", "--team", "crew", "--force"]);
});

const claude = scriptFile("cli/inbox");

it("sidebar › shows why a member's turn has failed, until Esc", async () => {
  const adapter = { channel: "inbox", resume: "resume", modes: { default: "default" } } as const;
  const { place, spawn, state, teams } = await memberTeam(claude(), adapter, "tmux");
  const person = personInside(place, ["sidebar", "crew"], { size: { width: 60, height: 30 } });
  await person.sees("q close");
  expect((await spawn("say: ready")).code).toBe(0);
  await state("ada", "idle");
  await person.sees("○ ada");
  await teams("send", "ada", "fail: no credit");
  await person.sees("✗ ada failed: no credit");
  person.type("Escape");
  await eventually("the end of the message", () => !person.screen().includes("ada failed"));
  // The row of the member still shows it.
  expect(person.screen()).toContain("✗ ada");
  person.type("q");
  expect(await person.code()).toBe(0);
});
