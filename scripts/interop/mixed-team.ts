import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { kill } from "node:process";
import type { Installed } from "./install.ts";
import type { Program } from "./program.ts";
import { PROGRAMS } from "./programs.ts";
import { check, type Result, today } from "./rows/row.ts";
import { Crew, type Places } from "./team/crew.ts";
import { programOf } from "./team/processes.ts";
import { until, within } from "./team/wait.ts";

export const MIXED = "mixed";
/** The programs of the mixed team, and the names of its members. */
export const MIXED_PROGRAMS: Readonly<Record<string, string>> = {
  codex: "codex",
  gemini: "gemini",
  opencode: "opencode",
  claude: "claude-latest",
};
const TEXT =
  "one team of our agent and four third-party programs: dependent tasks, messages between them, a request of each, a SIGKILL and a resume";
const LIMIT = 6 * 60_000;
const PATIENCE = 90_000;

/** Lets one team of several programs finish a list of dependent tasks. @param picture the path for an SVG of its screen */
export async function mixedTeam(
  installed: readonly Installed[],
  places: Places,
  picture: string,
): Promise<Result> {
  const begin = performance.now();
  const programs = Object.values(MIXED_PROGRAMS).flatMap((id) =>
    PROGRAMS.filter((program) => program.id === id),
  );
  const bins = installed
    .filter(({ id }) => programs.some((program) => program.id === id))
    .flatMap(({ bins }) => bins);
  const crew = await Crew.create(MIXED, places, programs, bins);
  const done = (more: Pick<Result, "mark" | "note">): Result => ({
    ...{ row: MIXED, text: TEXT, ms: Math.round(performance.now() - begin), date: today() },
    ...more,
  });
  try {
    await within(LIMIT, work(crew, programs, places, picture));
    const versions = installed.filter(({ id }) => programs.some((program) => program.id === id));
    return done({
      mark: "✓",
      note: versions.map(({ id, version }) => `${id.replace("-latest", "")} ${version}`).join(", "),
    });
  } catch (error) {
    console.error(await crew.teams("status").then(({ out }) => out));
    return done({ mark: "✗", note: error instanceof Error ? error.message : String(error) });
  } finally {
    await crew.teams("kill", "crew", "--force").catch(() => undefined);
    crew.end();
  }
}

async function work(
  crew: Crew,
  programs: readonly Program[],
  places: Places,
  picture: string,
): Promise<void> {
  const others = Object.keys(MIXED_PROGRAMS);
  const members = ["ours", ...others];
  for (const [at, name] of members.entries())
    await crew.ok("task", "add", `work of ${name}`, ...(at === 0 ? [] : ["--blocked-by", `${at}`]));
  const start = (name: string): string[] => [
    "spawn",
    name,
    "--prompt",
    helloOf(name),
    "--teammate-mode",
    "tmux",
  ];
  learnWork(crew, members);
  for (const name of members) crew.model.learn(helloOf(name), `do-say: Hello from ${name}.`);
  await crew.ok(...start("ours"), "--model", "sonnet");
  for (const [name, id] of Object.entries(MIXED_PROGRAMS)) {
    const cli = programs.find((program) => program.id === id)?.cli ?? name;
    await crew.ok(...start(name), "--cli", cli);
  }
  for (const name of members) {
    await crew.turnEnded(`Hello from ${name}.`, PATIENCE);
    await crew.state(name, "idle", PATIENCE);
  }
  const codex = await crew.state("codex", "idle");
  const program = programs.find(({ id }) => id === "codex");
  if (program !== undefined) kill(programOf(program, codex.pid ?? 0), "SIGKILL");
  await crew.state("codex", "crashed");
  await crew.ok("resume");
  await crew.state("codex", "idle", PATIENCE);

  await crew.ok("send", "ours", turnOf(1));
  const asked = new Map<string, string>();
  let isPictured = false;
  await until(
    "all tasks to be completed",
    async () => {
      for (const { id, from, summary } of await crew.approvals()) {
        if (asked.has(id)) continue;
        asked.set(id, `${from}: ${summary}`);
        // The picture shows the last request, before its answer.
        if (!isPictured && asked.size === members.length)
          isPictured = await takePicture(crew, places, picture);
        await crew.ok("approve", id);
      }
      return (await tasks(crew)).every(({ status }) => status === "completed");
    },
    LIMIT,
  );
  check(
    JSON.stringify([...asked.values()]) ===
      JSON.stringify(members.map((name) => `${name}: Bash(mkdir by-${name})`)),
    "the members requested something else",
    [...asked.values()],
  );
  const missing = members.filter((name) => !crew.made(`by-${name}`));
  check(missing.length === 0, "missing work", missing);
  check(
    (await tasks(crew)).every(({ owner }, at) => owner === members[at]),
    "the tasks have other owners",
    await tasks(crew),
  );
  await crew.leadGot("All tasks are done.", PATIENCE);
  for (const name of members) await crew.state(name, "idle", PATIENCE);
  check(crew.damage.length === 0, "a file was unreadable", crew.damage[0]);
}

async function tasks(crew: Crew): Promise<readonly { readonly status: string; readonly owner?: string }[]> {
  return (await crew.json<{ tasks: { status: string; owner?: string }[] }>("task", "list")).tasks;
}

const helloOf = (name: string): string => `Say hello, ${name}.`;
const turnOf = (id: number): string => `Task #${id} is yours.`;

/** Teaches the model what each member does with its task: its work, and a message to the next member. */
function learnWork({ model }: Crew, members: readonly string[]): void {
  for (const [at, name] of members.entries()) {
    const update = (more: object): string =>
      `do-tool: TaskUpdate ${JSON.stringify({ taskId: `${at + 1}`, owner: name, ...more })}`;
    const next = members[at + 1];
    const steps = [
      update({ status: "in_progress" }),
      `do-run: mkdir by-${name}`,
      update({ status: "completed" }),
      next === undefined
        ? "do-send: team-lead All tasks are done."
        : `do-send: ${next} Task #${at + 1} is done. ${turnOf(at + 2)}`,
      `do-say: ${name} is done`,
    ];
    model.learn(turnOf(at + 1), steps.join("\n"));
  }
}

/** Cells of the picture, and of the sidebar in it. */
const SIZE = ["-x", "186", "-y", "54"];
const SIDEBAR = "44";

/** Takes a picture of the window of the team, with a sidebar, and without names of temporary directories. */
async function takePicture(crew: Crew, { teams }: Places, picture: string): Promise<boolean> {
  const { paneId } = await crew.state("ours", ["idle", "running"]);
  const session = crew.tmux("display-message", "-p", "-t", paneId ?? "", "#{session_name}");
  const window = `=${session}:`;
  crew.tmux("resize-window", "-t", window, ...SIZE);
  const place = ["-d", "-h", "-f", "-l", SIDEBAR, "-t", window, "-P", "-F", "#{pane_id}"];
  const sidebar = crew.tmux("split-window", ...place, "--", "teams", "sidebar", "crew");
  await until("the request of claude in the sidebar", () =>
    crew.screen({ paneId: sidebar }).includes("by-claude"),
  );
  const script = join(teams, "../../scripts/screenshot.mjs");
  const socket = crew.tmux("display-message", "-p", "#{socket_path}");
  const words = [
    "--socket",
    socket,
    "--target",
    window,
    "--out",
    picture,
    "--title",
    "one team of five makes",
  ];
  execFileSync(process.execPath, [script, ...words], { env: crew.env, stdio: "inherit", timeout: 30_000 });
  writeFileSync(picture, withoutScratch(readFileSync(picture, "utf8"), crew.home));
  crew.tmux("kill-pane", "-t", sidebar);
  return true;
}

/** Replaces the home in a picture with `~`, padded with spaces. A narrow pane breaks its path into two lines. */
function withoutScratch(svg: string, home: string): string {
  const root = dirname(dirname(home));
  const rest = `${home.slice(root.length + 1)}/`;
  const short = (run: string): string => run.replaceAll(home, "~").replaceAll(root, "~").replace(rest, "");
  return svg.replaceAll(/>([^<]*)</g, (_, run: string) => `>${short(run).padEnd(run.length)}<`);
}
