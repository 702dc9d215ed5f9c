import { execFile, execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FakeModel } from "../model/server.ts";
import { startFakeModel } from "../model/server.ts";
import { KEY, type Program } from "../program.ts";
import { processesWith } from "./processes.ts";
import { patient, USUAL, until } from "./wait.ts";

/** Variables that differ from those of the team; undefined leaves one out. */
export type Variables = Readonly<Record<string, string | undefined>>;

export interface Config {
  readonly leadSessionId: string;
  readonly members: readonly { readonly name: string }[];
}

export interface Finished {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface Member {
  readonly name: string;
  readonly state: string;
  readonly stateFrom?: string | null;
  readonly activity?: string | null;
  readonly pid: number | null;
  readonly paneId: string | null;
  readonly alive: boolean | null;
  readonly unread: number;
  readonly taskIds: readonly string[];
  readonly tokens: { readonly input: number; readonly output: number } | null;
  readonly costUsd: number | null;
  readonly model?: string | null;
  readonly cwd: string;
}

export interface Approval {
  readonly id: string;
  readonly from: string;
  readonly kind: string;
  readonly summary: string;
}

/** Where the isolated part finds its files. */
export interface Places {
  /** The built program. */
  readonly teams: string;
  /** A directory for the homes of all teams. */
  readonly scratch: string;
}

/** Returns the settings of a team. Its rules allow the commands that rows run without a request, and deny one. */
function settingsFor(home: string): string {
  const allow = ["Bash(install:*)", `Bash(${home}/bin/linger:*)`];
  const permissions = { allow, deny: ["Bash(truncate:*)"] };
  // The model is on loopback, which a sandbox without a network does not reach.
  return JSON.stringify({ permissions, teams: { sandbox: { network: "allow" } } });
}

/** The name of every team. */
export const TEAM = "crew";

/** One team with a private home, tmux server and model server. */
export class Crew {
  readonly home: string;
  readonly repo: string;
  readonly env: Readonly<Record<string, string>>;
  readonly model: FakeModel;
  /** The built program. */
  readonly teamsProgram: string;
  readonly #socket: string;
  /** Errors about damaged files, which must never occur. */
  readonly damage: string[] = [];
  #words = 0;

  private constructor(home: string, model: FakeModel, env: Readonly<Record<string, string>>, teams: string) {
    this.home = home;
    this.repo = join(home, "repo");
    this.model = model;
    this.env = env;
    this.teamsProgram = teams;
    this.#socket = env.TEAMS_TMUX_SOCKET ?? "";
  }

  /** Creates the home and the team. `programs` are prepared in it; `bins` are the directories of their commands. */
  static async create(
    id: string,
    places: Places,
    programs: readonly Program[],
    bins: readonly string[],
  ): Promise<Crew> {
    const home = join(places.scratch, id);
    const repo = join(home, "repo");
    for (const name of ["repo", "run", "tmux", ".claude", "bin"])
      mkdirSync(join(home, name), { recursive: true, mode: 0o700 });
    const model = await startFakeModel();
    const own = programs.map((program) => program.prepare({ home, repo, modelUrl: model.url }));
    writeFileSync(join(home, ".claude/settings.json"), settingsFor(home));
    writeFileSync(join(home, "tmux.conf"), "set -g default-terminal tmux-256color\n");
    // A command that no program knows, or refuses because it takes too long.
    writeFileSync(join(home, "bin/linger"), `#!/bin/sh\nsleep "$1"\n`, { mode: 0o755 });
    writeFileSync(join(home, "bin/note"), `#!/bin/sh\n: >"$1"\n`, { mode: 0o755 });
    writeFileSync(join(home, "bin/teams"), `#!/bin/sh\nexec ${process.execPath} ${places.teams} "$@"\n`, {
      mode: 0o755,
    });
    const env = {
      PATH: [join(home, "bin"), ...bins, process.env.PATH].join(":"),
      ...{ HOME: home, SHELL: "/bin/bash", LANG: "C.UTF-8", TERM: "xterm-256color", USER: "nobody" },
      ...{ XDG_RUNTIME_DIR: join(home, "run"), TMUX_TMPDIR: join(home, "tmux"), TMPDIR: places.scratch },
      ...{ TEAMS_TEAM: TEAM, TEAMS_TMUX_SOCKET: "interop", TEAMS_INTEROP: id },
      // Our own agents use the same model server.
      ...{ ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: KEY },
      ...Object.assign({}, ...own),
    };
    execFileSync("git", ["init", "--quiet", "--initial-branch=main", repo], { env });
    const commit = [
      "-c",
      "user.name=n",
      "-c",
      "user.email=n@localhost",
      "commit",
      "--quiet",
      "--allow-empty",
      "-m",
      "begin",
    ];
    execFileSync("git", ["-C", repo, ...commit], { env });
    const crew = new Crew(home, model, env, places.teams);
    const size = ["-x", "180", "-y", "50"];
    crew.tmux("new-session", "-d", "-s", "person", ...size, "-c", repo, "--", "env", "cat");
    await crew.ok("create", TEAM);
    return crew;
  }

  /** Runs tmux on the server of this team. */
  tmux(...words: readonly string[]): string {
    const own = ["-u", "-L", this.#socket, "-f", join(this.home, "tmux.conf"), ...words];
    return execFileSync("tmux", own, {
      env: this.env,
      encoding: "utf8",
      timeout: patient(10_000),
      stdio: "pipe",
    }).trimEnd();
  }

  /** Runs a command of teams to its end. */
  teams(...words: readonly string[]): Promise<Finished> {
    return this.teamsIn({}, ...words);
  }

  /** Runs a command of teams in another environment. @param env undefined leaves a variable out */
  async teamsIn(env: Variables, ...words: readonly string[]): Promise<Finished> {
    const ended = await this.run([process.execPath, this.teamsProgram, ...words], { env });
    if (/CORRUPT_FILE|is corrupt|quarantin/i.test(ended.err + (ended.code === 0 ? "" : ended.out)))
      this.damage.push(`teams ${words.join(" ")}: ${ended.err}`);
    return ended;
  }

  /** Runs a command in the repository to its end. @throws Error if it does not end in time */
  run(
    [file = "", ...words]: readonly string[],
    { env = {}, input = "", limit = 120_000 }: { env?: Variables; input?: string; limit?: number } = {},
  ): Promise<Finished> {
    return new Promise((resolve, reject) => {
      const settings = { env: { ...this.env, ...env }, cwd: this.repo, timeout: patient(limit) };
      const child = execFile(file, words, settings, (error, out, err) => {
        if (error !== null && typeof error.code !== "number")
          return reject(
            new Error(`${[file, ...words].join(" ").slice(0, 80)} did not end: ${err.slice(-200)}`),
          );
        resolve({ code: typeof error?.code === "number" ? error.code : 0, out, err });
      });
      child.stdin?.end(input);
    });
  }

  /** Runs a command that must succeed. @throws Error with its message */
  async ok(...words: readonly string[]): Promise<string> {
    const { code, out, err } = await this.teams(...words);
    if (code !== 0) throw new Error(`teams ${words[0]} failed (${code}): ${firstLine(err)}`);
    return out;
  }

  async json<T>(...words: readonly string[]): Promise<T> {
    return JSON.parse(await this.ok(...words, "--json")) as T;
  }

  async member(name: string): Promise<Member | undefined> {
    const { members } = await this.json<{ members: Member[] }>("status");
    return members.find((member) => member.name === name);
  }

  /** Waits until a member has a state, and returns it. @throws Error with the state that it has instead */
  async state(name: string, wanted: string | readonly string[], limit = USUAL): Promise<Member> {
    const states = typeof wanted === "string" ? [wanted] : wanted;
    let last: Member | undefined;
    try {
      return await until(
        `${name} to be ${states.join(" or ")}`,
        async () => {
          last = await this.member(name);
          return last !== undefined && states.includes(last.state) ? last : undefined;
        },
        limit,
      );
    } catch (error) {
      const shown = last === undefined ? "not a member" : `${last.state} (${last.activity ?? "no activity"})`;
      throw new Error(`${error instanceof Error ? error.message : error}; it is ${shown}`);
    }
  }

  async approvals(): Promise<readonly Approval[]> {
    return (await this.json<{ approvals: Approval[] }>("approvals")).approvals;
  }

  /** Waits for a request whose summary contains this text. */
  approval(text: string, limit?: number): Promise<Approval> {
    return until(
      `a request with ${text}`,
      async () => (await this.approvals()).find(({ summary }) => summary.includes(text)),
      limit,
    );
  }

  /** Waits until the lead has got this text. */
  leadGot(text: string, limit?: number): Promise<unknown> {
    return until(
      `a message to the lead with ${text}`,
      async () => (await this.ok("inbox", "team-lead", "--all", "--json")).includes(text),
      limit,
    );
  }

  /** Waits until the model has ended a turn with this text. */
  turnEnded(text: string, limit?: number): Promise<unknown> {
    return until(`a turn that ends with ${text}`, () => this.model.said(text), limit);
  }

  /** Waits until the model has got this text. */
  modelGot(text: string, limit?: number): Promise<unknown> {
    return until(`a request to the model with ${text}`, () => this.model.got(text), limit);
  }

  /** Returns a step that takes this many seconds; `processes` finds it by `linger` and the number. */
  linger(seconds: number): string {
    return `do-run: ${join(this.home, "bin/linger")} ${seconds}`;
  }

  /** Returns a step that creates a file; no program treats its command as special. */
  note(file: string): string {
    return `do-run: ${join(this.home, "bin/note")} ${file}`;
  }

  /** Returns a word that no other row uses. */
  word(stem: string): string {
    this.#words += 1;
    return `${stem}-${this.#words}`;
  }

  /** Returns the visible text of a member's pane. */
  screen(member: Pick<Member, "paneId">): string {
    return member.paneId === null ? "" : this.tmux("capture-pane", "-p", "-t", member.paneId);
  }

  /** Creates a home in which no program was set up. @returns its path */
  emptyHome(): string {
    return mkdtempSync(join(this.home, "empty-"));
  }

  /** Returns whether a path exists in the repository. */
  made(path: string): boolean {
    return existsSync(join(this.repo, path));
  }

  /** Returns the last tool result that the model got. */
  lastResult(): string {
    const pieces = this.model.requests.findLast(({ ask }) => ask.tools.length > 0)?.ask.pieces ?? [];
    const last = pieces.findLast((piece) => piece.kind === "result");
    return last?.kind === "result" ? last.text.slice(0, 300) : "nothing";
  }

  /** Returns the processes of this team whose command line contains this text. */
  processes(text: string): number[] {
    return processesWith(`TEAMS_INTEROP=${this.env.TEAMS_INTEROP}`, text);
  }

  /** Returns the configuration as it is in its file. */
  config(): Config {
    return JSON.parse(readFileSync(join(this.home, ".claude/teams", TEAM, "config.json"), "utf8"));
  }

  end(): void {
    try {
      this.tmux("kill-server");
    } catch {
      // It has ended with its last session.
    }
    this.model.close();
  }
}

export function firstLine(text: string): string {
  return text.trim().split("\n")[0] ?? "";
}
