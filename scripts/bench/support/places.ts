import { accessSync, constants, realpathSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import type { Place } from "../figure.ts";

/** The type that `statfs` reports for a file system in memory. */
const TMPFS = 0x0102_1994;

/**
 * Returns the disk, and Linux's file system in memory: a rename costs nothing there, so that only our own
 * cost remains.
 */
export function places(): readonly Place[] {
  const directory = realpathSync(tmpdir());
  if (statfsSync(directory).type === TMPFS) return [{ name: "memory", directory }];
  const disk = { name: "disk", directory };
  try {
    accessSync("/dev/shm", constants.W_OK);
    return [disk, { name: "memory", directory: "/dev/shm" }];
  } catch {
    // Missing on macOS; then only the disk is measured.
    return [disk];
  }
}
