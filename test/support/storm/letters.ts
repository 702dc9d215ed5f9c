import { spawn } from "node:child_process";
import { closeSync, fstatSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from "node:fs";
import { lock } from "proper-lockfile";
import { isSystemError } from "../../../src/errors.ts";
import type { Env } from "../../../src/os/env.ts";
import { TEAMS } from "../processes/built-program.ts";

/** A message of a storm. */
export interface Letter {
  /** The beginning of the text, which no other text contains: `storm-17.` */
  readonly id: string;
  readonly text: string;
  readonly to: string;
  /** True if its sender reported success: it must arrive. Otherwise it may arrive. */
  readonly isAcknowledged: boolean;
}

/**
 * Sends a letter with the built program.
 * @param lifeMs milliseconds after which the sender is killed; undefined lets it finish
 */
export function sendLetter(
  env: Env,
  letter: Omit<Letter, "isAcknowledged">,
  lifeMs?: number,
): Promise<Letter> {
  return new Promise((resolve) => {
    const argv = [TEAMS, "send", "--team", "crew", letter.to, letter.text];
    const child = spawn(process.execPath, argv, { env: { ...env }, cwd: env.HOME, stdio: "ignore" });
    const timer = lifeMs === undefined ? undefined : setTimeout(() => child.kill("SIGKILL"), lifeMs);
    child.once("exit", (code) => {
      clearTimeout(timer);
      resolve({ ...letter, isAcknowledged: code === 0 });
    });
  });
}

/** Writes like another program, which takes the lock of proper-lockfile and replaces the whole file. */
export async function writeAsForeign(inbox: string, letter: Omit<Letter, "isAcknowledged">): Promise<Letter> {
  try {
    const release = await lock(inbox, { retries: { retries: 10, minTimeout: 5, maxTimeout: 100 } });
    try {
      const entries = JSON.parse(readFileSync(inbox, "utf8"));
      entries.push({ from: "peer", text: letter.text, timestamp: new Date().toISOString(), read: false });
      writeFileSync(`${inbox}.peer`, JSON.stringify(entries, undefined, 2));
      renameSync(`${inbox}.peer`, inbox);
    } finally {
      await release();
    }
    return { ...letter, isAcknowledged: true };
  } catch (error) {
    // The lock is held, the disk is at fault, or a torn inbox is not repaired yet: this program gives up.
    if (!isSystemError(error) && !(error instanceof SyntaxError) && !isLockError(error)) throw error;
    return { ...letter, isAcknowledged: false };
  }
}

function isLockError(error: unknown): boolean {
  return ["ELOCKED", "ERELEASED", "ECOMPROMISED"].includes((error as { code?: string }).code ?? "");
}

/** Writes like another program, which takes no lock and is killed in the middle of an entry. */
export function tearInbox(inbox: string): void {
  try {
    const fd = openSync(inbox, "r+");
    try {
      const { size } = fstatSync(fd);
      if (size > 2) writeSync(fd, ',{"from":"peer","te', size - 1);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (!isSystemError(error)) throw error;
  }
}
