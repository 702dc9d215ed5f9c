import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { StringDecoder } from "node:string_decoder";
import { tmuxOf } from "./lead.ts";
import { type BenchTeam, SERVER } from "./scratch.ts";

/** A real client of a team's tmux server, in a terminal whose bytes this process writes and reads. */
export interface AttachedClient {
  write(text: string): void;
  /** Resolves with the milliseconds from now until the client writes this text to its terminal. @throws Error after three minutes */
  draws(text: string): Promise<number>;
  end(): Promise<void>;
}

/** Starts a child in a new terminal: `script` of util-linux, or of BSD and macOS. */
const IN_TERMINAL =
  process.platform === "linux"
    ? (line: string) => ["script", "-qfc", line, "/dev/null"]
    : (line: string) => ["script", "-q", "/dev/null", "/bin/sh", "-c", line];
const DEADLINE_MS = 180_000;

/** Whether this system has the program `script`. */
export const canAttach = (): boolean => spawnSync("script", ["--version"]).error === undefined;

/** Attaches a client to a session. */
export function attachClient(
  team: BenchTeam,
  session: string,
  { columns, rows }: { readonly columns: number; readonly rows: number },
): AttachedClient {
  const { TMUX: _, ...own } = team.env;
  const line = `stty cols ${columns} rows ${rows}; exec tmux -u ${SERVER.join(" ")} attach-session -t =${session}:`;
  const [program = "", ...words] = IN_TERMINAL(line);
  const child: ChildProcess = spawn(program, words, {
    env: { ...own, TERM: "xterm-256color" },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const decoder = new StringDecoder("utf8");
  const listeners = new Set<(text: string) => void>();
  child.stdout?.on("data", (bytes: Buffer) => {
    const text = decoder.write(bytes);
    for (const listener of listeners) listener(text);
  });
  return {
    write: (text) => void child.stdin?.write(text),
    draws: (wanted) =>
      new Promise((resolve, reject) => {
        const begin = performance.now();
        const over = setTimeout(() => {
          listeners.delete(listener);
          reject(new Error(`The client did not draw ${JSON.stringify(wanted)}.`));
        }, DEADLINE_MS);
        const listener = (text: string): void => {
          if (!text.includes(wanted)) return;
          clearTimeout(over);
          listeners.delete(listener);
          resolve(performance.now() - begin);
        };
        listeners.add(listener);
      }),
    end: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      tmuxOf(team, "detach-client", "-s", `=${session}`);
      await once(child, "exit");
    },
  };
}
