import { accessSync, constants, realpathSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import type { Place } from "../figure.ts";

/** What `statfs` calls a file system in memory. */
const TMPFS = 0x0102_1994;

/** The disk, and what Linux keeps in memory: there a rename costs nothing, and what is left is ours. */
export function places(): readonly Place[] {
  const directory = realpathSync(tmpdir());
  if (statfsSync(directory).type === TMPFS) return [{ name: "memory", directory }];
  const disk = { name: "disk", directory };
  try {
    accessSync("/dev/shm", constants.W_OK);
    return [disk, { name: "memory", directory: "/dev/shm" }];
  } catch {
    // Not everywhere (macOS); then the disk alone is measured.
    return [disk];
  }
}
