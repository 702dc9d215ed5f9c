import { dirname, join } from "node:path";
import { systemClock } from "../os/clock.ts";
import type { Env } from "../os/env.ts";
import { ensureDir } from "../os/files/fs.ts";
import { replaceRecordLink } from "../os/files/symlinks.ts";
import { redactText, secretsOf } from "../os/redact.ts";
import { debugPath } from "../protocol/paths.ts";
import { cutText } from "../text/characters/cut-text.ts";
import { wantsDebugLog } from "./debug-flag.ts";
import { appendRotating } from "./event-log.ts";

/** The decisions of an agent and their reasons, one line each, with secrets redacted. */
interface DebugLog {
  readonly path: string;
  /** Writes a text as one line. Never throws: a broken log must not affect the agent. */
  note(text: string): void;
}

export interface DebugLogOptions {
  readonly root: string;
  readonly sessionId: string;
  readonly env: Env;
  /** Receives the first error; nothing is written after it. */
  problem(error: unknown): void;
}

/** Bytes of one file (there are two): some days of work. */
const MAX_BYTES = 16 * 1024 * 1024;
/** Characters of a line: a reason and a command fit, a file does not. */
const MAX_LINE = 2_000;

/** Opens the debug log of a session; undefined unless the environment asks for it. The link `latest` points to the newest log. */
export function openDebugLog(options: DebugLogOptions): DebugLog | undefined {
  const { root, sessionId, env, problem } = options;
  if (!wantsDebugLog(env)) return undefined;
  const path = debugPath(root, sessionId);
  const secrets = secretsOf(env);
  let isBroken = false;
  const write = (text: string): void => {
    if (isBroken) return;
    // Redact before truncating: a truncated secret would not be recognised.
    const line = cutText(redactText(text, secrets).replace(/\s+/g, " ").trim(), MAX_LINE);
    try {
      appendRotating(path, `${new Date(systemClock.now()).toISOString()} ${line}\n`, MAX_BYTES);
    } catch (error) {
      isBroken = true;
      problem(error);
    }
  };
  try {
    ensureDir(dirname(path));
    replaceRecordLink(join(dirname(path), "latest"), `${sessionId}.txt`);
  } catch (error) {
    isBroken = true;
    problem(error);
  }
  // Creates the file, so that it can be followed at once.
  write(`agent started with session ${sessionId}`);
  return { path, note: write };
}
