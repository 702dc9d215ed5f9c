import { dirname, join } from "node:path";
import { type Clock, systemClock } from "../os/clock.ts";
import type { Env } from "../os/env.ts";
import { ensureDir } from "../os/files/fs.ts";
import { replaceRecordLink } from "../os/files/symlink-record.ts";
import { redactText, secretsOf } from "../os/redact.ts";
import { debugPath } from "../protocol/paths.ts";
import { wantsDebugLog } from "./debug-flag.ts";
import { appendBounded } from "./event-log.ts";

/** What an agent decided and why, one line each, with no secret in it. */
interface DebugLog {
  readonly path: string;
  /** Of several lines one is made. Never throws: the log is no part of what it tells of. */
  note(text: string): void;
}

export interface DebugLogOptions {
  readonly root: string;
  readonly sessionId: string;
  readonly env: Env;
  readonly clock?: Clock;
  /** Hears, once, that nothing can be written. */
  problem(error: unknown): void;
}

/** Bytes of one file, of which there are two: some days of work. */
const MOST_BYTES = 16 * 1024 * 1024;
/** Characters of a line: a reason and a command fit, a file does not. */
const MAX_LINE = 2_000;

/** The debug log of a session, where the environment asks for one; `latest` beside it leads to the newest. */
export function openDebugLog(options: DebugLogOptions): DebugLog | undefined {
  const { root, sessionId, env, clock = systemClock, problem } = options;
  if (!wantsDebugLog(env)) return undefined;
  const path = debugPath(root, sessionId);
  const secrets = secretsOf(env);
  let isBroken = false;
  const write = (text: string): void => {
    if (isBroken) return;
    // Masked before it is cut: half of a secret would not be known as one.
    const line = redactText(text, secrets).replace(/\s+/g, " ").trim().slice(0, MAX_LINE);
    try {
      appendBounded(path, `${new Date(clock.now()).toISOString()} ${line}\n`, MOST_BYTES);
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
  // Whoever wants to follow it finds it.
  write(`an agent begins with session ${sessionId}`);
  return { path, note: write };
}
