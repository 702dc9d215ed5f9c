import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { processTable, signalProcess } from "../../../src/os/process/process-table.ts";
import { type CheckedCast, checkCast } from "../../support/casts/check-cast.ts";
import { TEAMS, teamsIn } from "../../support/processes/built-program.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { type PrivateTmux, privateTmux } from "../../support/tmux/private-tmux.ts";
import { personInside, userAt } from "../../support/tmux/terminal-user.ts";

const ask = { name: "AskUserQuestion", input: { question: "What next?" } };
const PLAYBOOK = {
  version: 1,
  agents: {
    dev: [{ say: "I begin with the clock." }, { say: "The clock is mended." }],
    "team-lead": [{ say: "The lead looks around.", tools: [ask] }, { say: "All is done." }],
  },
};

/** Writes the playbook, and returns the pane of a person in tmux and the commands of that person. */
function personAt(t: PrivateTmux): { readonly teams: ReturnType<typeof teamsIn>; readonly pane: string } {
  writeFileSync(join(t.home, "play.json"), JSON.stringify(PLAYBOOK));
  const { pane } = t.session();
  return { teams: teamsIn(t.inside(pane), t.home), pane };
}

const SPAWN = ["spawn", "dev", "--model", "scripted:play.json", "--prompt", "start with the clock", "--json"];

async function spawned(teams: ReturnType<typeof teamsIn>, ...more: string[]): Promise<string> {
  const answer = await teams([...SPAWN, ...more]);
  expect(answer.err).toBe("");
  return answer.json<{ paneId: string }>().paneId;
}

function recorders(t: PrivateTmux): number[] {
  return processTable().flatMap(({ pid }) => {
    const words = commandOf(pid);
    return words.includes(t.home) && / record-pane /.test(words) ? [pid] : [];
  });
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return "";
  }
}

/** Waits for the recordings' directory of the only team. */
async function castsDirectory(t: PrivateTmux): Promise<string> {
  const all = join(String(t.env.TEAMS_HOME), "teams-casts");
  const [only = ""] = await eventually("the recordings", () => existsSync(all) && readdirSync(all));
  return join(all, only);
}

/** Waits for words in a recording, and checks it. */
async function recorded(path: string, words: string): Promise<CheckedCast> {
  await eventually(
    `${words} in the recording`,
    () => existsSync(path) && readFileSync(path, "utf8").includes(words),
  );
  return checkCast(path);
}

describe.skipIf(process.platform !== "linux")("a recorded pane", () => {
  it("keeps its output, its messages and its sizes in a valid file", async () => {
    const t = privateTmux();
    const { teams } = personAt(t);
    await teams(["create", "crew", "--rec=casts"]);
    const pane = await spawned(teams);
    const path = join(t.home, "casts", "dev.cast");
    const first = await recorded(path, "the clock");
    const [width, height] = t
      .tmux("display-message", "-p", "-t", pane, "#{pane_width} #{pane_height}")
      .split(" ");
    expect(first.header).toMatchObject({ width: Number(width), height: Number(height), title: "dev@crew" });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(t.home, "casts")).mode & 0o777).toBe(0o700);
    t.tmux("resize-window", "-t", pane, "-x", "70", "-y", "20");
    await teams(["send", "dev", "mend the clock"]);
    const { events, output, markers } = await recorded(path, "is mended");
    expect(output).toContain("I begin with");
    expect(markers).toContain("team-lead: start with the clock");
    expect(markers).toContain("team-lead: mend the clock");
    expect(markers).toContain("state: idle");
    expect(events.find(([, code]) => code === "r")?.[2]).toMatch(/^70x/);
    // The message was marked before the agent wrote its answer.
    const marked = events.findIndex(([, code, data]) => code === "m" && data.includes("mend the clock"));
    const answered = events.findIndex(([, code, data]) => code === "o" && data.includes("mended"));
    expect(marked).toBeLessThan(answered);
  });

  it("keeps its recording when the team is deleted, and replay finds it", async () => {
    const t = privateTmux();
    const { teams } = personAt(t);
    await teams(["create", "crew", "--rec"]);
    await spawned(teams);
    await recorded(join(await castsDirectory(t), "dev.cast"), "the clock");
    await teams(["kill", "dev"]);
    await teams(["delete", "crew", "--force"]);
    await eventually("the recorder's end", () => recorders(t).length === 0);
    const { recordings } = (await teams(["replay", "dev", "--team", "crew", "--json"])).json<{
      recordings: { title: string; malformedLines: number; markers: { label: string }[] }[];
    }>();
    expect(recordings).toMatchObject([{ title: "dev@crew", malformedLines: 0 }]);
    expect(recordings[0]?.markers.map(({ label }) => label)).toContain("team-lead: start with the clock");
  });

  it("keeps working when its recorder is killed", async () => {
    const t = privateTmux();
    const { teams } = personAt(t);
    await teams(["create", "crew"]);
    const pane = await spawned(teams, "--rec=casts");
    const path = join(t.home, "casts", "dev.cast");
    await recorded(path, "the clock");
    const pids = recorders(t);
    expect(pids).toHaveLength(1);
    for (const pid of pids) signalProcess(pid, "SIGKILL");
    await teams(["send", "dev", "mend the clock"]);
    await userAt(t, pane).sees("The clock is mended.");
    expect(checkCast(path).output).not.toContain("mended");
  });

  it("keeps working while its recorder is stopped, and loses nothing", async () => {
    const t = privateTmux();
    const { teams } = personAt(t);
    await teams(["create", "crew"]);
    const pane = await spawned(teams, "--rec=casts");
    const path = join(t.home, "casts", "dev.cast");
    await recorded(path, "the clock");
    for (const pid of recorders(t)) signalProcess(pid, "SIGSTOP");
    await teams(["send", "dev", "mend the clock"]);
    await userAt(t, pane).sees("The clock is mended.");
    for (const pid of recorders(t)) signalProcess(pid, "SIGCONT");
    await recorded(path, "is mended");
  });

  it("continues in a second file when the agent is started again", async () => {
    const t = privateTmux();
    const { teams } = personAt(t);
    await teams(["create", "crew", "--rec=casts"]);
    await spawned(teams);
    await recorded(join(t.home, "casts", "dev.cast"), "the clock");
    await t.killServer();
    const again = await teamsIn(t.env, t.home)(["resume", "--team", "crew", "--json"]);
    expect(again.code).toBe(0);
    await recorded(join(t.home, "casts", "dev.2.cast"), "dev");
    const listed = await teams(["replay", "dev", "--markers", "--json"]);
    expect(listed.json<{ markers: { label: string }[] }>().markers.map(({ label }) => label)).toContain(
      "part 2",
    );
  });

  it("shows why it is not recorded, and keeps working", async () => {
    const t = privateTmux();
    const { teams } = personAt(t);
    writeFileSync(join(t.home, "casts"), "a file");
    await teams(["create", "crew"]);
    const pane = await spawned(teams, "--rec=casts");
    const user = userAt(t, pane);
    await user.sees("the screen is not recorded: ");
    await user.sees("I begin with the clock.");
  });

  it("leaves the pipe of a user alone", async () => {
    const t = privateTmux();
    const { pane } = personAt(t);
    const log = join(t.home, "log");
    t.tmux("pipe-pane", "-t", pane, `cat > ${log}`);
    const words = ["run", "--playbook", "play.json", "--no-sidebar", "--rec=casts", "--once", "look"];
    t.tmux("respawn-pane", "-k", "-t", pane, "-c", t.home, "--", process.execPath, TEAMS, ...words);
    const user = userAt(t, pane);
    await user.sees("the screen is not recorded: its pane is already piped to another program (pipe-pane)");
    await user.sees("What next?");
    expect(readFileSync(log, "utf8")).toContain("looks around");
    expect(existsSync(join(t.home, "casts", "team-lead.cast"))).toBe(false);
  });
});

describe("up --rec", () => {
  it("records the members that it starts", async () => {
    const t = privateTmux();
    const { teams } = personAt(t);
    const member = { name: "dev", prompt: "start with the clock", model: "scripted:play.json" };
    writeFileSync(join(t.home, "team.json"), JSON.stringify({ name: "crew", members: [member] }));
    const started = await teams(["up", "team.json", "--yes", "--rec=casts", "--json"]);
    expect([started.err, started.code]).toEqual(["", 0]);
    await recorded(join(t.home, "casts", "dev.cast"), "the clock");
  });
});

describe("run --rec", () => {
  it("records the lead until its run ends, and nothing of the user's shell", async () => {
    const t = privateTmux();
    writeFileSync(join(t.home, "play.json"), JSON.stringify(PLAYBOOK));
    const words = ["run", "--playbook", "play.json", "--no-sidebar", "--rec=casts", "--once", "look"];
    const person = personInside(t, words, { size: { width: 100, height: 30 } });
    await person.sees("What next?");
    person.type("go on", "Enter");
    expect(await person.code()).toBe(0);
    person.type("typed into the shell", "Enter");
    await person.sees("typed into the shell");
    await eventually("the recorder's end", () => recorders(t).length === 0);
    const { header, output } = checkCast(join(t.home, "casts", "team-lead.cast"));
    expect(header).toMatchObject({ width: 100, height: 30 });
    expect(output).toContain("looks around");
    expect(output).toContain("All is done.");
    // The last line of the run.
    expect(output).toMatch(/To see it again: teams replay team-lead --team run-\w+\s*$/);
    const { recordings } = (await teamsIn(t.env, t.home)(["replay", "team-lead", "--json"])).json<{
      recordings: { path: string }[];
    }>();
    expect(recordings).toMatchObject([{ path: join(t.home, "casts", "team-lead.cast") }]);
    expect(output).not.toContain("typed into");
  });

  it("records each of two runs that follow each other in one pane", async () => {
    const t = privateTmux();
    const turns = { "team-lead": [{ say: "All is done." }] };
    writeFileSync(join(t.home, "play.json"), JSON.stringify({ version: 1, agents: turns }));
    const run = `${process.execPath} ${TEAMS} run -p --playbook play.json --no-sidebar --rec=casts look`;
    t.session();
    t.tmux("new-window", "-d", "-t", "=work:", "-c", t.home, `${run}; ${run}; exec cat`);
    await recorded(join(t.home, "casts", "team-lead.2.cast"), "All is done.");
    await eventually("both recorders to end", () => recorders(t).length === 0);
    expect(checkCast(join(t.home, "casts", "team-lead.cast")).output).toContain("All is done.");
  });

  it("passes its directory on to the lead of a detached session", async () => {
    const t = privateTmux();
    writeFileSync(join(t.home, "play.json"), JSON.stringify(PLAYBOOK));
    const teams = teamsIn(t.env, t.home);
    const words = ["run", "--team", "crew", "--playbook", "play.json", "--detach", "--rec=casts", "look"];
    expect((await teams(words)).err).toBe("");
    await recorded(join(t.home, "casts", "team-lead.cast"), "looks around");
  });

  it("takes the word after --rec as the goal, and refuses a run without panes", async () => {
    const t = privateTmux();
    writeFileSync(join(t.home, "play.json"), JSON.stringify(PLAYBOOK));
    const teams = teamsIn(t.env, t.home);
    const refused = await teams([
      "run",
      "--playbook",
      "play.json",
      "--teammate-mode",
      "in-process",
      "--rec",
      "look",
    ]);
    expect([refused.code, refused.err]).toEqual([
      2,
      expect.stringContaining("accepts --rec only for agents in tmux panes"),
    ]);
    const words = ["run", "--team", "crew", "--playbook", "play.json", "--detach", "--rec", "look around"];
    expect((await teams(words)).code).toBe(0);
    await recorded(join(await castsDirectory(t), "team-lead.cast"), "look around");
  });
});
