import { spawnSync } from "node:child_process";

/** Returns whether this user may mount a disk in memory that the processes of other namespaces see, too. */
export function mayMount(): boolean {
  const script = `d=$(mktemp -d); trap 'rmdir "$d"' EXIT; mount -t tmpfs none "$d"; umount "$d"`;
  return spawnSync("sh", ["-ec", script], { stdio: "ignore" }).status === 0;
}
