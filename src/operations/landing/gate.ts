import { withoutRepository } from "../../git/git.ts";
import type { Env } from "../../os/env.ts";
import { runCommandGroup } from "../../os/process/command-group.ts";
import { OutputTail } from "../../os/process/output-tail.ts";
import type { Sandbox } from "../../os/sandbox/sandbox.ts";
import { stripControls } from "../../text/terminal-text.ts";
import type { AgentWork } from "./agent-work.ts";

/** Milliseconds: a project's tests can take many minutes, and a command that waits for input never ends. */
const TIMEOUT_MS = 30 * 60_000;
/** How many of the last characters of its output a report shows. */
const MAX_OUTPUT_CHARS = 4_000;

/** The command that decides whether work may land. */
export interface Gate {
  /** Runs in `/bin/sh` at the top of the agent's worktree. */
  readonly command: string;
  /** Its whole environment. */
  readonly env: Env;
  /** Returns the sandbox of an agent's commands: the gate runs files that the agent wrote. */
  readonly sandboxOf?: (work: AgentWork) => Sandbox | undefined;
}

export interface GateFailure {
  /** `exit code 1`, `SIGKILL`, `timed out after 30 minutes`. */
  readonly how: string;
  readonly output: string;
}

/** Returns why the gate failed; `aborted` if the signal ended it; undefined if it succeeded. */
export async function runGate(
  gate: Gate,
  work: AgentWork,
  { mark, signal }: { readonly mark: string; readonly signal: AbortSignal },
): Promise<GateFailure | "aborted" | undefined> {
  const { command, env, sandboxOf } = gate;
  const { directory } = work;
  const plain = { file: "/bin/sh", args: ["-c", command], env: withoutRepository(env) };
  const program = (await sandboxOf?.(work)?.wrap(plain, directory)) ?? plain;
  const output = new OutputTail(MAX_OUTPUT_CHARS);
  const end = await runCommandGroup(program.file, program.args, {
    cwd: directory,
    env: program.env,
    timeoutMs: TIMEOUT_MS,
    mark,
    signal,
    onOutput: (stream, bytes) => output.add(bytes, stream),
  });
  if (end.failure === "aborted") return "aborted";
  if (end.code === 0 && end.failure === undefined) return undefined;
  const how =
    end.failure === "timed-out"
      ? `timed out after ${TIMEOUT_MS / 60_000} minutes`
      : (end.message ?? end.signal ?? `exit code ${end.code}`);
  return { how, output: stripControls(output.text).trim() };
}
