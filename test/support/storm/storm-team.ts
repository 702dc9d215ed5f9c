import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { createTeam } from "../../../src/operations/create-team.ts";
import { systemClock } from "../../../src/os/clock.ts";
import { startTimeOf } from "../../../src/os/process/identity.ts";
import { signalProcess } from "../../../src/os/process/process-table.ts";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import { readTeam } from "../../../src/team/config/config.ts";
import { history } from "../../../src/team/mailbox/history.ts";
import { livenessOfAgent, readStatus } from "../../../src/team/records/read-records.ts";
import { type TeamRef, teamRef, teamsHome } from "../../../src/team/ref.ts";
import { getTask, listTasks, ownerName } from "../../../src/team/tasks/tasks.ts";
import { addTask } from "../../../src/team/tasks/update-task.ts";
import { leaves, markedProcesses, nothing } from "../assertions/leftovers.ts";
import { type Finished, teamsIn } from "../processes/built-program.ts";
import { isAtRest } from "../team/is-at-rest.ts";
import { eventually } from "../timing/eventually.ts";
import { type PrivateTmux, privateTmux } from "../tmux/private-tmux.ts";
import { personInside } from "../tmux/terminal-user.ts";
import type { Letter } from "./letters.ts";

const TEAMMATES = ["ann", "bob", "cyd"];
export const MEMBERS = [LEAD_NAME, ...TEAMMATES];
export const TASKS = Array.from({ length: 12 }, (_, i) => String(i + 1));
/** A team that is not at rest is resumed again after this many milliseconds. */
const ROUND_MS = 8_000;
/** A team counts as hanging after this many milliseconds without rest. */
const HANGS_MS = 180_000;

const PLAYBOOK = {
  version: 1,
  agents: {
    "*": [
      ...TASKS.map((taskId) => ({
        on: { contains: `please do ${taskId}.` },
        tools: ["in_progress", "completed"].map((status) => ({
          name: "TaskUpdate",
          input: { taskId, status },
        })),
        repeat: true,
      })),
      { say: "Heard.", repeat: true },
    ],
  },
};

/** A run with three teammates in panes, which a storm disturbs. */
export class StormTeam {
  readonly t: PrivateTmux;
  readonly ref: TeamRef;
  readonly letters: Letter[] = [];
  readonly #teams: ReturnType<typeof teamsIn>;
  readonly #notes: string[] = [];
  readonly #begin = performance.now();
  #starts = 0;
  #conversations: Readonly<Record<string, string>> = {};

  /** @param root the directory of all teams; a test may have mounted it */
  constructor(root: string) {
    const t = privateTmux({ env: { TEAMS_HOME: root } });
    this.t = { ...t, root };
    this.ref = teamRef(teamsHome(t.env), "crew");
    this.#teams = teamsIn(t.env, t.home);
    writeFileSync(join(t.home, "book.json"), JSON.stringify(PLAYBOOK));
  }

  /** Creates the team and its tasks, and starts all members. */
  async begin(): Promise<void> {
    await createTeam(teamsHome(this.t.env), systemClock, {
      name: "crew",
      cwd: this.t.home,
      model: `scripted:${join(this.t.home, "book.json")}`,
      mode: "bypassPermissions",
    });
    for (const id of TASKS) await addTask(this.ref, LEAD_NAME, { subject: `task ${id}` });
    for (const name of TEAMMATES)
      await this.#done("spawn", name, "--team", "crew", "--teammate-mode", "tmux", "--prompt", "Wait.");
    this.#resumeLead();
    await eventually("the team at rest", () => this.#isAtRest());
    this.#conversations = this.#transcripts();
  }

  /** Notes an event for the report of a failure. */
  note(event: string): void {
    this.#notes.push(`${Math.round(performance.now() - this.#begin)} ms: ${event}`);
  }

  /** The events so far, and the newest output of the lead. */
  eventsAndOutput(): string {
    const log = join(this.t.home, "lead.log");
    const output = existsSync(log) ? readFileSync(log, "utf8").slice(-4_000) : "";
    return `${this.#notes.join("\n")}\n\n${output}`;
  }

  pidOf(name: string): number | undefined {
    return readStatus(this.ref, name)?.process.pid;
  }

  /** Limits the size of files that the current processes and their children may write. */
  limitFiles(bytes: string): void {
    for (const { pid } of markedProcesses(this.t))
      spawnSync("prlimit", ["--pid", `${pid}`, `--fsize=${bytes}:`]);
  }

  /** Kills every process and empties the runtime directory, as a power cut does where that directory is in memory. */
  async endAll(): Promise<void> {
    await eventually("the end of every process", () => {
      const left = markedProcesses(this.t);
      for (const { pid } of left) signalProcess(pid, "SIGKILL");
      return left.length === 0;
    });
    rmSync(this.t.runtime, { recursive: true, force: true });
    mkdirSync(this.t.runtime, { mode: 0o700 });
  }

  /** Resumes after a storm, until every member is idle and has read its messages. */
  async calm(): Promise<void> {
    await this.#repairConfig();
    const deadline = performance.now() + HANGS_MS;
    while (!this.#isAtRest()) {
      if (performance.now() > deadline)
        throw new Error(`The team hangs after the storm.\n${await this.#report()}`);
      if (livenessOfAgent(this.ref, LEAD_NAME) !== "alive") this.#resumeLead();
      else await this.#teams(["resume", "crew"]);
      await eventually("the team at rest", () => this.#isAtRest(), ROUND_MS).catch(() => undefined);
    }
  }

  /** Asks a member for each open task, and waits until it is completed. */
  async completeTasks(): Promise<void> {
    const open = () => listTasks(this.ref).filter(({ status }) => status !== "completed");
    for (const { id } of open()) {
      const to = ownerName(getTask(this.ref, id)) ?? TEAMMATES[Number(id) % 3] ?? "";
      await this.#done("send", "--team", "crew", to, `please do ${id}.`);
      await eventually(`the end of task ${id}`, () => getTask(this.ref, id).status === "completed");
    }
    await eventually("the team at rest", () => this.#isAtRest());
  }

  /** Checks all promises; call it while the team is at rest. */
  async check(): Promise<void> {
    expect(readTeam(this.ref).members.map(({ name }) => name)).toEqual(MEMBERS);
    expect(this.#transcripts()).toEqual(this.#conversations);
    const counts = new Map(MEMBERS.map((name) => [name, this.#inputs(name)]));
    const wrong = this.letters.flatMap(({ id, to, isAcknowledged }) => {
      const count = counts.get(to)?.get(id) ?? 0;
      return count === 1 || (count === 0 && !isAcknowledged) ? [] : [`${to} got ${id} ${count} times`];
    });
    expect(wrong).toEqual([]);
    expect(listTasks(this.ref).map(({ id }) => id)).toEqual(TASKS);
    const notices = (await history(this.ref, LEAD_NAME, { all: true })).flatMap(
      ({ text }) => /"task_completed".*"taskId":"(\d+)"/.exec(text)?.[1] ?? [],
    );
    expect(notices.toSorted()).toEqual([...new Set(notices)].toSorted());
  }

  /** Ends the team, and expects that no process, pane or file of it is left. */
  async end(): Promise<void> {
    await this.#done("kill", "crew", "--force", "--purge");
    await this.t.killServer();
    await leaves(this.t, nothing());
  }

  /** The session of each member's conversation, according to the config and to its process. */
  #transcripts(): Record<string, string> {
    const { members } = readTeam(this.ref);
    return Object.fromEntries(
      members.flatMap(({ name, metadata }) => [
        [name, readStatus(this.ref, name)?.transcript ?? ""],
        [`${name} in the config`, String(metadata?._session)],
      ]),
    );
  }

  /** Counts each letter in the inputs of an agent's conversation. */
  #inputs(name: string): Map<string, number> {
    const counts = new Map<string, number>();
    const transcript = readStatus(this.ref, name)?.transcript ?? "";
    for (const line of readFileSync(transcript, "utf8").split("\n")) {
      if (!line.startsWith('{"type":"user"')) continue;
      for (const { type, text } of JSON.parse(line).message.content) {
        if (type !== "text") continue;
        for (const [found] of text.matchAll(/storm-\d+\./g)) counts.set(found, (counts.get(found) ?? 0) + 1);
      }
    }
    return counts;
  }

  #isAtRest(): boolean {
    if (!existsSync(this.ref.paths.config)) return false;
    const { members } = readTeam(this.ref);
    return (
      members.length === MEMBERS.length &&
      MEMBERS.every((name) => livenessOfAgent(this.ref, name) === "alive" && isAtRest(this.ref, name))
    );
  }

  #lead(words: readonly string[]): void {
    this.#starts += 1;
    const { pane } = personInside(this.t, words, { session: `lead-${this.#starts}` });
    this.t.tmux("pipe-pane", "-t", pane, `cat >>${join(this.t.home, "lead.log")}`);
    this.note(words.join(" "));
  }

  #resumeLead(): void {
    this.#lead(["run", "--resume", "--team", "crew", "--no-sidebar"]);
  }

  /** Restores a config that another program has damaged, with doctor. */
  async #repairConfig(): Promise<void> {
    try {
      readTeam(this.ref);
    } catch {
      await this.#teams(["doctor", "--fix"]);
      readTeam(this.ref);
    }
  }

  async #done(...words: readonly string[]): Promise<Finished> {
    const ended = await this.#teams(words);
    expect([words, ended.code], ended.err).toEqual([words, 0]);
    return ended;
  }

  async #report(): Promise<string> {
    const { out, err } = await this.#teams(["status", "crew"]);
    return `${out}${err}`;
  }
}

/** Returns whether this process runs. */
export function isAlive(pid: number | undefined): pid is number {
  return pid !== undefined && startTimeOf(pid) !== undefined;
}
