import { spawn } from "node:child_process";
import { once } from "node:events";
import { onTestFinished } from "vitest";
import { identityOf } from "../../../src/os/process/identity.ts";
import type { ProcessIdentity } from "../../../src/schema/process-identity.ts";

/** Starts a process that ends with the test. @param env additional variables */
export async function livingProcess(env: NodeJS.ProcessEnv = {}): Promise<ProcessIdentity> {
  // Not `sleep`: macOS hides the environment of its own programs.
  const words = ["--eval", "setTimeout(() => undefined, 600_000)"];
  const child = spawn(process.execPath, words, { detached: true, env: { ...process.env, ...env } });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child, "spawn");
  const identity = identityOf(child.pid ?? 0);
  if (identity === undefined) throw new Error("The process has no identity.");
  return identity;
}
