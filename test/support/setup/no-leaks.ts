import { spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll } from "vitest";
import { messageOf } from "../../../src/errors.ts";
import { signalProcess } from "../../../src/os/process/process-table.ts";
import { type Leak, leaksOf } from "../assertions/leaks.ts";
import { removeTree } from "../files/remove-tree.ts";

/** Milliseconds in which the processes of a file may still end; the test of this check sets fewer. */
const GRACE_MS = Number(process.env.LEAK_GRACE_MS ?? 180_000);

// The hook below does not run in a file whose tests are all skipped, or that cannot be loaded.
const outer = process.env.OUTER_TMPDIR ?? tmpdir();
if (tmpdir() !== outer) removeAll(tmpdir(), leaksOf(tmpdir()));
process.env.OUTER_TMPDIR = outer;
const own = mkdtempSync(join(outer, "tf-"));
// Programs of a test may run as another user.
chmodSync(own, 0o755);
guard().write(`${own}\n`);
// Every temporary directory of this file is below it, and every process of a test has one of them in its environment.
process.env.TMPDIR = own;

/** Cleans up, and fails the file if its tests have left anything after the grace period. Runs after the file's other hooks. */
afterAll(async () => {
  process.env.TMPDIR = outer;
  let leaks = leaksOf(own);
  for (const deadline = performance.now() + GRACE_MS; leaks.length > 0 && performance.now() < deadline; ) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    leaks = leaksOf(own);
  }
  try {
    removeAll(own, leaks);
  } catch (error) {
    leaks = [...leaks, { text: messageOf(error) }];
  }
  if (leaks.length > 0)
    throw new Error(`This file left ${leaks.length} things: ${leaks.map(({ text }) => text).join("; ")}`);
}, GRACE_MS + 180_000);

/** Starts the process that cleans up if this one is killed. This module is loaded for each test file of a process: they share the guard. */
function guard(): NodeJS.WritableStream {
  const shared = globalThis as { testGuard?: NodeJS.WritableStream };
  if (shared.testGuard !== undefined) return shared.testGuard;
  const program = fileURLToPath(new URL("end-orphans.sh", import.meta.url));
  // Detached: a signal to the run's process group must not end it.
  const child = spawn("sh", [program], { stdio: ["pipe", "ignore", "ignore"], detached: true });
  // The tests also run without the guard.
  child.stdin.on("error", () => undefined);
  child.unref();
  (child.stdin as unknown as { unref(): void }).unref();
  shared.testGuard = child.stdin;
  return child.stdin;
}

function removeAll(directory: string, leaks: readonly Leak[]): void {
  for (const { pid } of leaks) if (pid !== undefined) signalProcess(pid, "SIGKILL");
  for (const { mount } of leaks) if (mount !== undefined) spawnSync("umount", ["-l", mount]);
  // A killed process may write its last file meanwhile.
  removeTree(directory);
}
