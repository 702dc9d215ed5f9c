import { type ChildProcess, spawn } from "node:child_process";
import type { Crew } from "../team/crew.ts";
import { until } from "../team/wait.ts";
import { check, type Row } from "./row.ts";

const TURNS = 12;
/** Number of processes that compute during the turns: more than most machines have cores to spare. */
const LOAD = 4;
/** Milliseconds between two changes of the config by teams. */
const CHANGES = 400;

/** Twelve turns while processes compute and teams changes the config; counts what is lost. */
export const LOADED: readonly Row[] = [
  {
    id: "load",
    text: "twelve turns under load, while `teams` changes the config: nothing is unreadable or lost",
    limit: 8 * 60_000,
    async run({ program, another }) {
      const crew = await another("load");
      const load = Array.from({ length: LOAD }, compute);
      const done = new AbortController();
      try {
        const changes = changeConfig(crew, done.signal);
        const first = ["--cli", program.cli, "--prompt", "do-say: turn-0.", "--teammate-mode", "tmux"];
        await crew.ok("spawn", "ada", ...first);
        await crew.turnEnded("turn-0.", 90_000);
        const words = Array.from({ length: TURNS }, (_, at) => `turn-${at + 1}`);
        for (const word of words) await turn(crew, word);
        done.abort();
        const made = await changes;
        await until(
          "all messages to the lead",
          async () => (await lost(crew, words)).length === 0,
          20_000,
        ).catch(() => undefined);
        const members = crew.config().members.map(({ name }) => name);
        const missing = ["team-lead", "ada", "own"].filter((name) => !members.includes(name));
        const messages = await lost(crew, words);
        const seen = `${crew.damage.length} unreadable, ${missing.length} members and ${messages.length} messages lost`;
        check(crew.damage.length + missing.length + messages.length === 0, `${seen} ${crew.damage[0] ?? ""}`);
        console.error(`${program.id}: teams has changed the config ${made} times meanwhile.`);
      } finally {
        done.abort();
        for (const child of load) child.kill("SIGKILL");
        await crew.teams("kill", "crew", "--force").catch(() => undefined);
        crew.end();
      }
    },
  },
];

async function turn(crew: Crew, word: string): Promise<void> {
  const step = `do-tool: TaskUpdate ${JSON.stringify({ taskId: "1", status: "in_progress" })}`;
  await crew.ok("send", "ada", `${step}\ndo-send: team-lead message of ${word}.\ndo-say: ${word}.`);
  await crew.turnEnded(`${word}.`, 60_000);
}

/** Starts a process that computes for ten minutes at most. */
function compute(): ChildProcess {
  const program = "const end = Date.now() + 600000; while (Date.now() < end);";
  return spawn("nice", ["-n", "15", process.execPath, "-e", program], { stdio: "ignore" });
}

/** Adds a member that teams runs, and changes its mode repeatedly. @returns the number of changes */
async function changeConfig(crew: Crew, done: AbortSignal): Promise<number> {
  await crew.ok("task", "add", "a task");
  await crew.ok("spawn", "own", "--model", "scripted", "--teammate-mode", "process");
  let changes = 0;
  while (!done.aborted) {
    const mode = changes % 2 === 0 ? "acceptEdits" : "default";
    const { code, err } = await crew.teams("mode", "own", mode);
    if (code !== 0) crew.damage.push(`teams mode: ${err}`);
    changes += 1;
    await new Promise((resolve) => setTimeout(resolve, CHANGES));
  }
  return changes;
}

async function lost(crew: Crew, words: readonly string[]): Promise<readonly string[]> {
  const inbox = await crew.ok("inbox", "team-lead", "--all", "--json");
  return words.filter((word) => !inbox.includes(`message of ${word}.`));
}
